import type { DataSource, QueryRunner } from 'typeorm';
import { POSTGRES_NOW, SQLITE_NOW } from './replica-rows.js';
import { SqliteTransactions } from './sqlite-transactions.js';

/** Statements that both databases understand, with parameters `$1`, `$2` and so on. */
export interface NumberedSql {
  readonly isPostgres: boolean;
  /** Epoch milliseconds by the clock of the database. */
  readonly now: string;
  /**
   * Runs statements, all of them or none.
   *
   * @returns the rows of each
   */
  run(...statements: readonly NumberedStatement[]): Promise<readonly (readonly SqlRow[])[]>;
}

/** A row as the database gives it: PostgreSQL gives 64-bit integers as strings. */
export type SqlRow = Readonly<Record<string, string | number | null>>;

/** A statement and the values of its parameters. */
export type NumberedStatement = readonly [text: string, values: readonly (string | number | null)[]];

/** Runs statements on a DataSource, apart from every transaction of the host. */
export function numberedSql(dataSource: DataSource): NumberedSql {
  return dataSource.options.type === 'postgres' ? new PostgresSql(dataSource) : new SqliteSql(dataSource);
}

class PostgresSql implements NumberedSql {
  readonly isPostgres = true;
  readonly now = POSTGRES_NOW;

  constructor(private readonly dataSource: DataSource) {}

  async run(...statements: readonly NumberedStatement[]): Promise<readonly (readonly SqlRow[])[]> {
    const runner = this.dataSource.createQueryRunner();
    try {
      // One statement is a transaction by itself, and needs no round trips for its beginning and its end.
      if (statements.length === 1) return await runAll(runner, statements);
      await runner.startTransaction();
      const rows = await runAll(runner, statements);
      await runner.commitTransaction();
      return rows;
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
    }
  }
}

class SqliteSql implements NumberedSql {
  readonly isPostgres = false;
  readonly now = SQLITE_NOW;
  private readonly transactions: SqliteTransactions;

  constructor(dataSource: DataSource) {
    this.transactions = new SqliteTransactions(dataSource);
  }

  run(...statements: readonly NumberedStatement[]): Promise<readonly (readonly SqlRow[])[]> {
    return this.transactions.run(() => statements.map((statement) => this.runOne(statement)));
  }

  private runOne([text, values]: NumberedStatement): readonly SqlRow[] {
    const statement = this.transactions.prepared(text);
    const named = Object.fromEntries(values.map((value, index) => [String(index + 1), value]));
    if (statement.reader) return statement.all(named) as SqlRow[];
    statement.run(named);
    return [];
  }
}

async function runAll(
  runner: QueryRunner,
  statements: readonly NumberedStatement[],
): Promise<readonly (readonly SqlRow[])[]> {
  const rows: (readonly SqlRow[])[] = [];
  for (const [text, values] of statements) rows.push(rowsOf(await runner.query(text, [...values])));
  return rows;
}

/** TypeORM gives the rows of an UPDATE and a DELETE together with their number. */
function rowsOf(result: unknown): readonly SqlRow[] {
  const [rows, affected] = result as [unknown, unknown];
  return (typeof affected === 'number' ? rows : result) as readonly SqlRow[];
}
