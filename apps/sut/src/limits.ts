import type { A2AOptions } from 'nestjs-a2a';

/** Options that lift every bound: negative where that is said to, elsewhere a number that is never reached. */
export const NO_LIMITS = {
  maxBodyBytes: Number.MAX_SAFE_INTEGER,
  maxTaskBytes: -1,
  maxHistory: Number.MAX_SAFE_INTEGER,
  taskTimeout: Number.MAX_SAFE_INTEGER,
  storeTimeout: Number.MAX_SAFE_INTEGER,
  maxConcurrentRunsPerOwner: -1,
  maxStreamSeatsPerOwner: -1,
  terminalTaskRetention: -1,
  pausedTaskRetention: -1,
} satisfies Partial<A2AOptions>;
