/** A PostgreSQL server of the tests' own. */
export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** Stops the server as an administrator would, keeping its data. */
  readonly halt: () => Promise<void>;
  /** Starts it again on the same port. */
  readonly resume: () => Promise<void>;
  /** Stops the server and removes its data. */
  readonly stop: () => Promise<void>;
}

/** Starts a PostgreSQL server on a free port of the loopback address, its data in a folder of its own. */
export function startPostgres(): Promise<PostgresServer>;
