import { afterAll, describe } from '@jest/globals';
import { TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import type { DataSource } from 'typeorm';
import { postgresDatabase, sqliteDatabase, sqliteMemory, type TestDatabase } from '../support/data-sources.js';
import { describeTaskStore, type TaskStoreSubject } from 'nestjs-a2a/testing';
import { describeTaskLog } from './task-log.contract.js';

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
    const databases: TestDatabase[] = [];

    afterAll(() => Promise.all(databases.map((database) => database.drop())));

    const subject: TaskStoreSubject = {
      create: async () => {
        databases.unshift(await make());
        return storeOn(await databases[0]!.open());
      },
      connect: async () => storeOn(await databases[0]!.open()),
      close,
    };
    describeTaskStore('TypeOrmTaskStore', subject);
    describeTaskLog('TypeOrmTaskStore', subject);
  });
}

describeDatabase('PostgreSQL', postgresDatabase);
describeDatabase('a SQLite file', sqliteDatabase);

const inMemory: TaskStoreSubject = { create: async () => storeOn(await sqliteMemory()), close };
describeTaskStore('TypeOrmTaskStore on SQLite in memory', inMemory);
describeTaskLog('TypeOrmTaskStore on SQLite in memory', inMemory);
