import type { Client, ClientConfig, Pool } from 'pg';
import type { DataSource } from 'typeorm';

/** How long connecting may take, in milliseconds. */
const CONNECT_TIMEOUT = 3_000;

/**
 * Opens a connection of our own, beside the host's pool, which knows how to reach the database: address, credentials, TLS.
 *
 * @param purpose what it is for, as the database shows it
 * @param lost called when it has broken while nothing was asked of it
 */
export async function openConnection(
  dataSource: DataSource,
  purpose: string,
  lost: () => void,
  options: ClientConfig = {},
): Promise<Client> {
  const pool = (dataSource.driver as unknown as { master: Pool & { readonly Client: typeof Client } }).master;
  const client = new pool.Client({
    ...poolOptions(pool),
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    keepAlive: true,
    application_name: `nestjs-a2a ${purpose}`,
    ...options,
  });
  client.on('error', lost);
  await client.connect();
  return client;
}

/** The options of a pool. The password is not among the enumerable ones. */
function poolOptions(pool: Pool): object {
  const options = pool.options as unknown as { password?: unknown; ssl?: unknown };
  return { ...options, password: options.password, ssl: options.ssl };
}
