export { a2aEntities, type A2ATableOptions } from './store/typeorm/a2a-entities.js';
export { createTables, downTables, upTables } from './store/typeorm/create-tables.js';
export {
  PushConfigEntity,
  ReplicaEntity,
  TaskCountEntity,
  TaskEntity,
  TaskEventEntity,
  TaskSnapshotEntity,
} from './store/typeorm/task.entity.js';
export { TypeOrmTaskStore } from './store/typeorm/typeorm-task.store.js';
