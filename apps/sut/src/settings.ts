import type { PushOptions } from 'nestjs-a2a';

/** How this host is run. */
export interface SutSettings {
  /** 0 picks a free one. */
  readonly port: number;
  readonly adapter: 'express' | 'fastify';
  /** Whether the agent's caps and bounds hold; off for measurements. */
  readonly limits: boolean;
  /** Where tasks are kept: `postgres://…`, or `sqlite:` and a path; `undefined`: in memory. */
  readonly database: string | undefined;
  /** For how long a process that is not heard of keeps its runs, in milliseconds; `undefined`: the package's default. */
  readonly lease?: number | undefined;
  /** How webhooks are notified; `undefined`: as the package does by default. */
  readonly push?: PushOptions | undefined;
}

/**
 * Reads the settings from environment variables.
 *
 * @throws {Error} for a variable that this host cannot honour
 */
export function readSettings(env: NodeJS.ProcessEnv): SutSettings {
  const { PORT = '9999', ADAPTER = 'express', LIMITS = 'on', DATABASE_URL, LEASE_MS, PUSH } = env;
  if (DATABASE_URL && !/^(?:postgres(?:ql)?:\/\/|sqlite:.)/u.test(DATABASE_URL)) {
    throw new Error('DATABASE_URL must begin with "postgres://", or with "sqlite:" and go on with a path.');
  }
  if (ADAPTER !== 'express' && ADAPTER !== 'fastify') {
    throw new Error(`ADAPTER is "${ADAPTER}". It can be "express" or "fastify".`);
  }
  if (!/^\d{1,5}$/u.test(PORT)) throw new Error(`PORT is "${PORT}". It must be a number.`);
  if (LEASE_MS && !/^\d{1,9}$/u.test(LEASE_MS)) throw new Error(`LEASE_MS is "${LEASE_MS}". It must be a number.`);
  return {
    port: Number(PORT),
    adapter: ADAPTER,
    limits: LIMITS !== 'off',
    database: DATABASE_URL || undefined,
    lease: LEASE_MS ? Number(LEASE_MS) : undefined,
    push: PUSH ? readJson(PUSH) : undefined,
  };
}

function readJson(text: string): PushOptions {
  try {
    return JSON.parse(text) as PushOptions;
  } catch {
    throw new Error('PUSH must be the push options, as JSON.');
  }
}
