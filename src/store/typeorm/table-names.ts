import type { DataSource } from 'typeorm';
import { TABLE_ENTITIES } from './task.entity.js';

/** The tables as they are named in SQL, escaped and with their schema. */
export type TableNames = { readonly [Table in keyof typeof TABLE_ENTITIES]: string };

/** Reads the names of the tables from the metadata of a DataSource. */
export function tableNames(dataSource: DataSource): TableNames {
  const names = Object.entries(TABLE_ENTITIES).map(([table, entity]) => [table, nameOf(dataSource, entity)]);
  return Object.fromEntries(names) as TableNames;
}

function nameOf(dataSource: DataSource, entity: new () => object): string {
  return dataSource
    .getMetadata(entity)
    .tablePath.split('.')
    .map((part) => dataSource.driver.escape(part))
    .join('.');
}
