import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';

/** What a run keeps of the HTTP request that started it. The request itself ends long before the run may. */
export interface RequestSnapshot {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly ip: string | undefined;
  /** What the host's guards put on the request as its user. */
  readonly user: unknown;
}

const storage = new AsyncLocalStorage<RequestSnapshot>();

/** The request that started the run in whose async context this is called; `undefined` outside of a run. */
export function currentA2ARequest(): RequestSnapshot | undefined {
  return storage.getStore();
}

/**
 * Calls a function in the async context of a request, as a run does.
 *
 * @returns what the function returns
 */
export function runWithA2ARequest<T>(request: RequestSnapshot, callback: () => T): T {
  return storage.run(request, callback);
}

/** A request of Express, or of Fastify, as far as both have it in common. */
interface HttpRequestLike {
  readonly method?: string;
  readonly originalUrl?: string;
  readonly url?: string;
  readonly headers?: IncomingHttpHeaders;
  readonly ip?: string;
  readonly user?: unknown;
}

/** Takes from a request what outlives it. */
export function snapshotRequest(request: unknown): RequestSnapshot {
  const { method = '', originalUrl, url = '', headers = {}, ip, user } = request as HttpRequestLike;
  return Object.freeze({ method, url: originalUrl ?? url, headers: Object.freeze({ ...headers }), ip, user });
}
