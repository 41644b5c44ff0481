import { startPostgres } from './postgres.mjs';

/** Gives the tests a PostgreSQL: the one that `DATABASE_URL` names, or else one of their own. */
export default async function setUp() {
  if (process.env.DATABASE_URL) {
    process.env.TEST_DATABASE_URL = process.env.DATABASE_URL;
    return;
  }
  // Set-up and tear-down are called in one process.
  globalThis.testPostgres = await startPostgres();
  process.env.TEST_DATABASE_URL = globalThis.testPostgres.url;
}
