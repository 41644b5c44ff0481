import type { Client, Pool, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import { ConnectionLostError, isConnectionLoss } from './connection-lost.error.js';
import { changeParameters, insertParameters, removeParameters, writeStatement } from './postgres-statement.js';
import type { TableNames } from './table-names.js';
import type { BatchWriter, WriteOperation, WriteResult } from './write-operation.js';

/** How long connecting may take, in milliseconds. */
const CONNECT_TIMEOUT = 3_000;

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
    // The host's pool knows how to reach the database: address, credentials, TLS.
    const pool = (this.dataSource.driver as unknown as { master: Pool & { readonly Client: typeof Client } }).master;
    const client = new pool.Client({
      ...poolOptions(pool),
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      keepAlive: true,
      application_name: 'nestjs-a2a writer',
    });
    client.on('error', () => {
      this.client = undefined;
    });
    await client.connect();
    // A plan that was made on an empty table, or for a batch of one, must not scan when there are many rows.
    await client.query('SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off');
    return client;
  }
}

/** The options of a pool. The password is not among the enumerable ones. */
function poolOptions(pool: Pool): object {
  const options = pool.options as unknown as { password?: unknown; ssl?: unknown };
  return { ...options, password: options.password, ssl: options.ssl };
}
