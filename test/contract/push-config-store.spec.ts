import { MemoryTaskStore } from 'nestjs-a2a';
import { TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../support/data-sources.js';
import { describePushConfigStore } from './push-config-store.contract.js';
import { describePushCursors } from './push-cursors.contract.js';

describePushConfigStore('MemoryTaskStore', {
  create: async () => new MemoryTaskStore(),
  close: async () => {},
});

for (const [name, make] of [
  ['PostgreSQL', postgresDatabase],
  ['SQLite', sqliteDatabase],
] as const) {
  describePushConfigStore(`TypeOrmTaskStore on ${name}`, subjectOn(make));
  describePushCursors(`TypeOrmTaskStore on ${name}`, subjectOn(make));
}

function subjectOn(make: () => Promise<TestDatabase>) {
  let close = async (): Promise<void> => {};
  return {
    create: async () => {
      const database = await make();
      const dataSource = await database.open();
      const store = new TypeOrmTaskStore(dataSource);
      close = async () => {
        await store.close();
        await dataSource.destroy();
        await database.drop();
      };
      return store;
    },
    close: () => close(),
  };
}
