import { describe, expect, it } from '@jest/globals';
import { a2aEntities, downTables, TypeOrmTaskStore, upTables } from 'nestjs-a2a/typeorm';
import { draftOf, keyOf } from 'nestjs-a2a/testing';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';

/** As the database page tells to write it. */
class CreateA2ATables1764547200000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return upTables(runner);
  }

  down(runner: QueryRunner): Promise<void> {
    return downTables(runner);
  }
}

describe('A migration of the host (STORE-10)', () => {
  it('makes the tables that the entities describe, and takes them away again', async () => {
    const dataSource = await new DataSource({
      type: 'better-sqlite3',
      database: ':memory:',
      entities: a2aEntities({ tablePrefix: 'agent_' }),
      migrations: [CreateA2ATables1764547200000],
    }).initialize();
    await dataSource.runMigrations();
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    const store = new TypeOrmTaskStore(dataSource);
    const draft = draftOf();
    await store.create(draft);
    const { task } = await store.read(keyOf(draft));
    await dataSource.undoLastMigration();
    const left = await dataSource.query(`SELECT name FROM sqlite_master WHERE name LIKE 'agent_%'`);
    await dataSource.destroy();
    expect(upQueries).toEqual([]);
    expect(task).toEqual(draft.task);
    expect(left).toEqual([]);
  });
});
