import { afterAll, describe } from '@jest/globals';
import { TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import type { DataSource } from 'typeorm';
import { postgresDatabase, sqliteDatabase, sqliteMemory, type TestDatabase } from '../support/data-sources.js';
import { describeTaskStore } from 'nestjs-a2a/testing';

/** Stores that the tests have opened, with what they stand on. */
const opened = new Map<object, DataSource>();

function storeOn(dataSource: DataSource): TypeOrmTaskStore {
  const store = new TypeOrmTaskStore(dataSource);
  opened.set(store, dataSource);
  return store;
}

async function close(store: object): Promise<void> {
  await (store as TypeOrmTaskStore).close();
  await opened.get(store)?.destroy();
}

function describeDatabase(name: string, make: () => Promise<TestDatabase>): void {
  describe(name, () => {
    let database: TestDatabase;

    afterAll(() => database.drop());

    describeTaskStore('TypeOrmTaskStore', {
      create: async () => {
        database = await make();
        return storeOn(await database.open());
      },
      connect: async () => storeOn(await database.open()),
      close,
    });
  });
}

describeDatabase('PostgreSQL', postgresDatabase);
describeDatabase('a SQLite file', sqliteDatabase);
describeTaskStore('TypeOrmTaskStore on SQLite in memory', {
  create: async () => storeOn(await sqliteMemory()),
  close,
});
