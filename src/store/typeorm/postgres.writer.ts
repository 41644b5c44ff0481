import type { Client, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import { ConnectionLostError, isConnectionLoss } from './connection-lost.error.js';
import { openConnection } from './postgres-connection.js';
import { changeParameters, insertParameters, removeParameters, writeStatement } from './postgres-statement.js';
import type { TableNames } from './table-names.js';
import type { BatchWriter, WriteOperation, WriteResult } from './write-operation.js';

interface ResultRow {
  readonly id: string;
  readonly version: number;
}

/**
 * Writes to PostgreSQL over a connection of its own, so that no transaction of the host can keep it waiting, nor the
 * host's pool starve.
 *
 * A batch is one statement, and so one commit.
 */
export class PostgresWriter implements BatchWriter {
  private client: Promise<Client> | undefined;
  private isClosed = false;
  private readonly statement: string;

  constructor(
    private readonly dataSource: DataSource,
    tables: TableNames,
  ) {
    this.statement = writeStatement(tables);
  }

  async write(operations: readonly WriteOperation[]): Promise<readonly WriteResult[]> {
    const inserts = operations.filter((operation) => operation.kind === 'insert');
    const changes = operations.filter((operation) => operation.kind === 'change');
    const removals = operations.filter((operation) => operation.kind === 'remove');
    const { rows } = await this.query([
      ...changeParameters(changes),
      ...insertParameters(inserts),
      ...removeParameters(removals),
    ]);
    const versions = new Map(rows.map(({ id, version }) => [id, version]));
    return operations.map(({ id }) => versions.get(id) ?? null);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const client = await this.client?.catch(() => undefined);
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async query(values: unknown[]): Promise<QueryResult<ResultRow>> {
    try {
      const client = await (this.client ??= this.connect());
      return await client.query<ResultRow>({ name: 'a2a-write', text: this.statement, values });
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      this.client = undefined;
      throw new ConnectionLostError(error);
    }
  }

  private async connect(): Promise<Client> {
    if (this.isClosed) throw new Error('The task store is closed.');
    const client = await openConnection(this.dataSource, 'writer', () => {
      this.client = undefined;
    });
    // A plan that was made on an empty table, or for a batch of one, must not scan when there are many rows.
    await client.query('SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off');
    return client;
  }
}
