import { EntitySchema, type EntitySchemaColumnOptions, type ValueTransformer } from 'typeorm';
import { A2AConfigurationError } from '../../context/configuration.error.js';
import {
  PushConfigEntity,
  ReplicaEntity,
  TaskCountEntity,
  TaskEntity,
  TaskEventEntity,
  TaskSnapshotEntity,
} from './task.entity.js';

/** The prefix of the tables when none is given. */
export const DEFAULT_TABLE_PREFIX = 'a2a_';

/** Where the tables are. */
export interface A2ATableOptions {
  /** A plain identifier. @default 'a2a_' */
  readonly tablePrefix?: string;
}

/** PostgreSQL gives 64-bit integers as strings; ours are milliseconds, which a number holds. */
const integer: ValueTransformer = {
  to: (value: unknown) => value,
  from: (value: unknown) => (value === null ? null : Number(value)),
};

const text = { type: 'text' } as const;
const int = { type: 'integer' } as const;
const milliseconds: Omit<EntitySchemaColumnOptions, 'name'> = { type: 'bigint', transformer: integer };

/**
 * The entities of the task store, for a DataSource that lists its entities.
 *
 * @throws {A2AConfigurationError} for a prefix that is no plain identifier
 *
 * @example
 * new DataSource({ type: 'postgres', url, entities: [Invoice, ...a2aEntities()] })
 */
export function a2aEntities(options: A2ATableOptions = {}): EntitySchema[] {
  const prefix = checkedPrefix(options.tablePrefix ?? DEFAULT_TABLE_PREFIX);
  const entities = known.get(prefix) ?? [
    taskSchema(prefix),
    taskSnapshotSchema(prefix),
    taskEventSchema(prefix),
    taskCountSchema(prefix),
    pushConfigSchema(prefix),
    replicaSchema(prefix),
  ];
  known.set(prefix, entities);
  return [...entities];
}

/** By prefix. Nest tells entities apart by identity, and two schemas of one table would make its indexes twice. */
const known = new Map<string, EntitySchema[]>();

/** @throws {A2AConfigurationError} for a prefix that is no plain identifier */
export function checkedPrefix(prefix: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,40}$/u.test(prefix)) return prefix;
  throw new A2AConfigurationError(
    `The table prefix ${JSON.stringify(prefix)} is no plain identifier. Use letters, digits and underscores, such as "a2a_".`,
  );
}

function taskSchema(prefix: string): EntitySchema<TaskEntity> {
  const table = `${prefix}task`;
  return new EntitySchema<TaskEntity>({
    name: table,
    target: TaskEntity,
    tableName: table,
    columns: {
      id: { ...text, primary: true, primaryKeyConstraintName: `${table}_pk` },
      owner: text,
      tenant: text,
      scope: text,
      contextId: { ...text, name: 'context_id' },
      skillId: { ...text, name: 'skill_id' },
      createdAt: { ...milliseconds, name: 'created_at' },
      updatedAt: { ...milliseconds, name: 'updated_at' },
      statusAt: { ...milliseconds, name: 'status_at' },
      version: int,
      state: text,
      status: text,
      runId: { ...text, name: 'run_id', nullable: true },
      replica: { ...text, nullable: true },
      pushRev: { ...int, name: 'push_rev', default: 0 },
    },
    // Nothing that a chunk changes is in an index, so that its update stays in the page.
    indices: [
      { name: `${table}_by_owner`, columns: ['owner', 'statusAt', 'id'] },
      { name: `${table}_by_context`, columns: ['owner', 'contextId', 'statusAt', 'id'] },
      { name: `${table}_by_state`, columns: ['owner', 'state', 'statusAt', 'id'] },
      { name: `${table}_by_replica`, columns: ['replica'], where: 'replica IS NOT NULL' },
    ],
  });
}

function taskSnapshotSchema(prefix: string): EntitySchema<TaskSnapshotEntity> {
  const table = `${prefix}task_snapshot`;
  return new EntitySchema<TaskSnapshotEntity>({
    name: table,
    target: TaskSnapshotEntity,
    tableName: table,
    columns: {
      taskId: { ...text, name: 'task_id', primary: true, primaryKeyConstraintName: `${table}_pk` },
      version: int,
      history: text,
      artifacts: text,
      metadata: { ...text, nullable: true },
    },
  });
}

function taskCountSchema(prefix: string): EntitySchema<TaskCountEntity> {
  const table = `${prefix}task_count`;
  const primary = { primary: true, primaryKeyConstraintName: `${table}_pk` };
  return new EntitySchema<TaskCountEntity>({
    name: table,
    target: TaskCountEntity,
    tableName: table,
    columns: {
      owner: { ...text, ...primary },
      tenant: { ...text, ...primary },
      scope: { ...text, ...primary },
      count: int,
    },
  });
}

function taskEventSchema(prefix: string): EntitySchema<TaskEventEntity> {
  const table = `${prefix}task_event`;
  return new EntitySchema<TaskEventEntity>({
    name: table,
    target: TaskEventEntity,
    tableName: table,
    columns: {
      taskId: { ...text, name: 'task_id', primary: true, primaryKeyConstraintName: `${table}_pk` },
      version: { ...int, primary: true, primaryKeyConstraintName: `${table}_pk` },
      kind: text,
      json: text,
    },
  });
}

function pushConfigSchema(prefix: string): EntitySchema<PushConfigEntity> {
  const table = `${prefix}push_config`;
  return new EntitySchema<PushConfigEntity>({
    name: table,
    target: PushConfigEntity,
    tableName: table,
    columns: {
      taskId: { ...text, name: 'task_id', primary: true, primaryKeyConstraintName: `${table}_pk` },
      id: { ...text, primary: true, primaryKeyConstraintName: `${table}_pk` },
      owner: text,
      createdAt: { ...milliseconds, name: 'created_at' },
      config: text,
      sealed: { ...text, nullable: true },
      durable: { ...int, default: 0 },
      delivered: { ...int, default: 0 },
      dueAt: { ...milliseconds, name: 'due_at', nullable: true },
      attempts: { ...int, default: 0 },
      failingSince: { ...milliseconds, name: 'failing_since', nullable: true },
      claimedBy: { ...text, name: 'claimed_by', nullable: true },
      claimedUntil: { ...milliseconds, name: 'claimed_until', nullable: true },
    },
    indices: [{ name: `${table}_by_due`, columns: ['dueAt'], where: 'due_at IS NOT NULL' }],
  });
}

function replicaSchema(prefix: string): EntitySchema<ReplicaEntity> {
  const table = `${prefix}replica`;
  return new EntitySchema<ReplicaEntity>({
    name: table,
    target: ReplicaEntity,
    tableName: table,
    columns: {
      id: { ...text, primary: true, primaryKeyConstraintName: `${table}_pk` },
      expiresAt: { ...milliseconds, name: 'expires_at' },
    },
  });
}
