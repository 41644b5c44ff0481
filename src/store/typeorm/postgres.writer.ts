import type { Client, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import { compactParameters, compactStatement } from './compact-statement.js';
import { ConnectionLostError, isConnectionLoss } from './connection-lost.error.js';
import { openConnection } from './postgres-connection.js';
import { writeParameters, writeStatement } from './postgres-statement.js';
import { beatStatement } from './replica-rows.js';
import type { TableNames } from './table-names.js';
import type { BatchWriter, WriteOperation, WriteResult } from './write-operation.js';

interface ResultRow {
  readonly id: string;
  readonly version: number;
  readonly push_rev?: number;
}

/**
 * Writes to PostgreSQL over a connection of its own, so that no transaction of the host can keep it waiting, nor the
 * host's pool starve.
 *
 * A batch is one statement, and so one commit; compactions, which can be repeated, go before it.
 */
export class PostgresWriter implements BatchWriter {
  private client: Promise<Client> | undefined;
  private isClosed = false;
  private readonly statement: string;
  private readonly compaction: string;

  constructor(
    private readonly dataSource: DataSource,
    private readonly tables: TableNames,
  ) {
    this.statement = writeStatement(tables);
    this.compaction = compactStatement(tables);
  }

  async write(operations: readonly WriteOperation[]): Promise<readonly WriteResult[]> {
    const inserts = operations.filter((operation) => operation.kind === 'insert');
    const changes = operations.filter((operation) => operation.kind === 'change');
    const removals = operations.filter((operation) => operation.kind === 'remove');
    const compactions = operations.filter((operation) => operation.kind === 'compact');
    const rows: ResultRow[] = [];
    // First: a batch that fails is repeated, and a compaction may be made twice.
    if (compactions.length > 0) {
      rows.push(...(await this.query<ResultRow>('a2a-compact', this.compaction, compactParameters(compactions))));
    }
    if (compactions.length < operations.length) {
      const values = writeParameters(changes, inserts, removals);
      rows.push(...(await this.query<ResultRow>('a2a-write', this.statement, values)));
    }
    const written = new Map(rows.map((row) => [row.id, resultOf(row)]));
    return operations.map(({ id }) => written.get(id) ?? null);
  }

  async beat(replica: string, lease: number): Promise<boolean> {
    const rows = await this.query<{ readonly held: boolean }>('a2a-beat', beatStatement(this.tables), [replica, lease]);
    return rows[0]?.held ?? false;
  }

  async leave(replica: string): Promise<void> {
    await this.query('a2a-leave', `DELETE FROM ${this.tables.replica} WHERE id = $1`, [replica]);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const client = await this.client?.catch(() => undefined);
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async query<R extends QueryResultRow>(name: string, text: string, values: unknown[]): Promise<R[]> {
    try {
      const client = await (this.client ??= this.connect());
      const { rows } = await client.query<R>({ name, text, values });
      return rows;
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

function resultOf({ version, push_rev: pushRev }: ResultRow): WriteResult {
  return pushRev === undefined ? { version } : { version, pushRev };
}
