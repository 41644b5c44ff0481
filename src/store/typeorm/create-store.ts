import type { DataSource } from 'typeorm';
import { A2AConfigurationError } from '../../context/configuration.error.js';
import { createTables } from './create-tables.js';
import { TaskEntity } from './task.entity.js';
import { TypeOrmTaskStore } from './typeorm-task.store.js';

/** How the task store uses a DataSource. */
export interface StoreOptions {
  /** How many messages a task's history keeps. */
  readonly maxHistory: number;
  /** Whether missing tables are created. */
  readonly createTables: boolean;
}

const DIALECTS: readonly string[] = ['postgres', 'better-sqlite3'];

/**
 * Opens the task store on a DataSource of the host.
 *
 * @throws {A2AConfigurationError} when the DataSource is of another database, or does not know the entities
 */
export async function openStore(dataSource: DataSource, options: StoreOptions): Promise<TypeOrmTaskStore> {
  const { type } = dataSource.options;
  if (!DIALECTS.includes(type)) {
    throw new A2AConfigurationError(
      `Tasks cannot be kept in a DataSource of type "${type}", only of ${DIALECTS.join(' or ')}. Name another one as \`database: { dataSource }\`, pass a \`store\`, or set \`database: false\`.`,
    );
  }
  if (!dataSource.hasMetadata(TaskEntity)) {
    throw new A2AConfigurationError(
      'The DataSource does not know the entities of the task store. Set `autoLoadEntities: true` in TypeOrmModule.forRoot, or add `...a2aEntities()` of "nestjs-a2a/typeorm" to its `entities`.',
    );
  }
  if (options.createTables) await createTables(dataSource);
  return new TypeOrmTaskStore(dataSource, options.maxHistory);
}
