import type { DataSource } from 'typeorm';

/** The parts of a better-sqlite3 database that are used here. */
interface SqliteDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
}

/** A prepared statement. */
export interface SqliteStatement {
  /** Whether it gives rows. */
  readonly reader: boolean;
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): { readonly changes: number };
  get(...parameters: unknown[]): unknown;
}

/** How long a busy database is waited for, in milliseconds. */
const MAX_WAIT = 5_000;
/** Between two looks, in milliseconds. */
const PAUSE = 2;

/**
 * Transactions on the DataSource's own handle of SQLite.
 *
 * A DataSource has one connection, on which somebody's transaction may be open. We wait until none is, and then work in
 * one synchronous transaction that nothing can come between.
 */
export class SqliteTransactions {
  private readonly database: SqliteDatabase;
  private readonly statements = new Map<string, SqliteStatement>();

  constructor(dataSource: DataSource) {
    this.database = (dataSource.driver as unknown as { databaseConnection: SqliteDatabase }).databaseConnection;
  }

  /** A statement, prepared once. For the work of {@link run}. */
  prepared(sql: string): SqliteStatement {
    const known = this.statements.get(sql);
    if (known) return known;
    const statement = this.database.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }

  /**
   * Does something in a transaction of its own, as soon as there can be one.
   *
   * @throws {Error} what the work throws; or that there could be no transaction
   */
  async run<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + MAX_WAIT;
    for (;;) {
      const done = this.database.inTransaction ? undefined : this.tryRun(work);
      if (done) return done.result;
      if (performance.now() > deadline) {
        throw new Error(`The SQLite database was in a transaction of someone else for ${MAX_WAIT} ms.`);
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  /** @returns `undefined` when another process is writing */
  private tryRun<T>(work: () => T): { readonly result: T } | undefined {
    const { database } = this;
    try {
      database.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
    try {
      const result = work();
      database.exec('COMMIT');
      return { result };
    } catch (error) {
      if (database.inTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
}

function isBusy(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
}
