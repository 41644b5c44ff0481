import { randomUUID } from 'node:crypto';
import type { RpcCall } from './rpc.js';

/** A call of a user that no other test has heard of. */
export function newcomer(call: RpcCall = {}): RpcCall & { readonly user: string } {
  return { ...call, user: `user-${randomUUID()}` };
}
