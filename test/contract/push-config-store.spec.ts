import { MemoryPushConfigStore, MemoryTaskStore } from 'nestjs-a2a';
import { TypeOrmPushConfigStore, TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../support/data-sources.js';
import { describePushConfigStore } from './push-config-store.contract.js';

describePushConfigStore('MemoryPushConfigStore', {
  create: async () => {
    const configs = new MemoryPushConfigStore();
    return { configs, tasks: new MemoryTaskStore(200, configs) };
  },
  close: async () => {},
});

function describeDatabase(name: string, make: () => Promise<TestDatabase>): void {
  let close: () => Promise<void>;
  describePushConfigStore(`TypeOrmPushConfigStore on ${name}`, {
    create: async () => {
      const database = await make();
      const dataSource = await database.open();
      const tasks = new TypeOrmTaskStore(dataSource);
      close = async () => {
        await tasks.close();
        await dataSource.destroy();
        await database.drop();
      };
      return { tasks, configs: new TypeOrmPushConfigStore(dataSource) };
    },
    close: () => close(),
  });
}

describeDatabase('PostgreSQL', postgresDatabase);
describeDatabase('SQLite', sqliteDatabase);
