import type { DataSource } from 'typeorm';
import {
  PushConfigEntity,
  ReplicaEntity,
  TaskCountEntity,
  TaskEntity,
  TaskEventEntity,
  TaskSnapshotEntity,
} from './task.entity.js';

/** The tables as they are named in SQL, escaped and with their schema. */
export interface TableNames {
  readonly task: string;
  readonly snapshot: string;
  readonly event: string;
  readonly count: string;
  readonly pushConfig: string;
  readonly replica: string;
}

/** Reads the names of the tables from the metadata of a DataSource. */
export function tableNames(dataSource: DataSource): TableNames {
  const name = (entity: new () => object): string =>
    dataSource
      .getMetadata(entity)
      .tablePath.split('.')
      .map((part) => dataSource.driver.escape(part))
      .join('.');
  return {
    task: name(TaskEntity),
    snapshot: name(TaskSnapshotEntity),
    event: name(TaskEventEntity),
    count: name(TaskCountEntity),
    pushConfig: name(PushConfigEntity),
    replica: name(ReplicaEntity),
  };
}
