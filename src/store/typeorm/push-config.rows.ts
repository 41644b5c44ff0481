import { toJson } from '#protocol';
import type { PushConfigRecord } from '../push-config.record.js';
import type { PushConfigDraft } from '../task.store.js';
import type { PushConfigRow } from './write-operation.js';

/** Writes a config into the columns of its row. */
export function pushConfigRow({ record, keep }: PushConfigDraft): PushConfigRow {
  const { config, sealed = null, durable = false, createdAt } = record;
  return { id: config.id, createdAt, config: JSON.stringify(toJson(config)), sealed, durable: durable ? 1 : 0, keep };
}

/** The columns of a config that a record is made of; 64-bit integers may come as strings. */
export interface PushConfigColumns {
  readonly config: string;
  readonly sealed: string | null;
  readonly owner: string;
  readonly createdAt: number | string;
  readonly durable: number;
}

/** Reads a config from the columns of its row. */
export function pushConfigRecord({ config, sealed, owner, createdAt, durable }: PushConfigColumns): PushConfigRecord {
  return {
    config: JSON.parse(config) as PushConfigRecord['config'],
    owner,
    createdAt: Number(createdAt),
    ...(sealed !== null && { sealed }),
    ...(durable === 1 && { durable: true as const }),
  };
}
