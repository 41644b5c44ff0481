import { type Agent, ClientRequest, type OutgoingHttpHeaders, request as sendPlain } from 'node:http';
import { request as sendSecure } from 'node:https';
import { templateOf } from './agent-template.js';
import { withDeadline } from './deadline.js';
import { admittedAddresses, dial } from './dial.js';
import { exchange, type GuardedResponse } from './exchange.js';
import { RequestTimeoutError } from './request-timeout-error.js';
import type { TargetPolicy } from './target-policy.js';

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_RESPONSE_BYTES = 65_536;

/** What is sent by {@link guardedRequest}, and by which rules. */
export interface GuardedRequestOptions {
  /** Decides where the request may go. */
  readonly policy: TargetPolicy;
  /** @default 'GET' */
  readonly method?: string;
  /** `Host` is always that of the URL. */
  readonly headers?: OutgoingHttpHeaders;
  /** @default none */
  readonly body?: string | Uint8Array;
  /**
   * The time for everything, from the look-up of the name to the end of the answer, in milliseconds.
   *
   * @default 10_000
   */
  readonly timeoutMs?: number;
  /**
   * How much of the answer's body is read, in bytes. What comes after it is not waited for, and is no error.
   *
   * @default 65_536
   */
  readonly maxResponseBytes?: number;
  /** Ends the request; its reason is what is thrown. */
  readonly signal?: AbortSignal;
  /**
   * A plain `http.Agent` or `https.Agent` is a template: its options (certificates, TLS versions, local address) are
   * taken, its pool is not.
   *
   * Any other agent, such as one with a proxy, is used as it is. **That is weaker:** the addresses of the host are looked
   * up and checked before the request is handed to the agent, but the agent decides where it goes, so a name that changes
   * its address in between is not caught; connections may be reused; a name that only the proxy can resolve is an error.
   *
   * @default none
   */
  readonly agent?: Agent;
}

/**
 * Sends a request to an address that a stranger may have named.
 *
 * - The URL, every address of its host, and the address that was connected to must pass the policy before a byte is sent.
 * - Each request has a connection of its own. Neither agents of the process nor proxies of the environment are used.
 * - Redirects are not followed.
 * - It ends within `timeoutMs`, whatever the receiver does.
 *
 * Errors of the look-up, the connection, TLS and HTTP are thrown as Node makes them. Their texts may hold addresses: they
 * are for the log.
 *
 * @throws {TargetRefusedError} when the policy refuses the target
 * @throws {RequestTimeoutError} when the time is up
 * @throws the reason of `signal`, once that has aborted
 */
export async function guardedRequest(url: string | URL, options: GuardedRequestOptions): Promise<GuardedResponse> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, policy, agent, signal } = options;
  const target = policy.checkUrl(String(url));
  const template = agent === undefined ? {} : templateOf(agent);
  const onTimeout = (): Error => new RequestTimeoutError(timeoutMs);
  return withDeadline(timeoutMs, onTimeout, signal, async (aborted) => {
    const addresses = await admittedAddresses(target, policy, aborted);
    aborted.throwIfAborted();
    if (agent !== undefined && template === undefined) return sendThrough(agent, target, options, aborted);
    const socket = await dial(target, addresses, policy, template ?? {}, aborted);
    try {
      // Made directly: a process may have replaced `http.request` by one that goes through a proxy.
      const request = new ClientRequest({
        ...headOf(target, options),
        createConnection: () => socket,
        signal: aborted,
      });
      return await exchange(request, options.body, options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES);
    } finally {
      socket.destroy();
    }
  });
}

async function sendThrough(
  agent: Agent,
  target: URL,
  options: GuardedRequestOptions,
  signal: AbortSignal,
): Promise<GuardedResponse> {
  const send = target.protocol === 'https:' ? sendSecure : sendPlain;
  const request = send(target, { ...headOf(target, options), agent, signal });
  return exchange(request, options.body, options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES);
}

function headOf(target: URL, { method = 'GET', headers = {} }: GuardedRequestOptions) {
  return { method, path: `${target.pathname}${target.search}`, headers: { ...headers, host: target.host } };
}
