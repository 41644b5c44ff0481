import { Agent } from 'node:http';
import { Agent as SecureAgent, type AgentOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';

/** Options by which an agent leads its connections elsewhere. */
const ROUTING = ['lookup', 'createConnection', 'host', 'port', 'socket', 'socketPath', 'proxyEnv'];
/** Options of an agent that a connection has no use for, since each request has a connection of its own. */
const POOLING = ['agentKeepAliveTimeoutBuffer', 'keepAlive', 'path', 'signal', 'timeout'];

/**
 * The options of a plain agent, for connections that are made like its own: certificates, TLS versions, local address.
 *
 * @returns `undefined` for an agent that finds its own way: a class of its own, or one with a proxy, a socket path, a
 *   look-up or a `createConnection`
 */
export function templateOf(agent: Agent): ConnectionOptions | undefined {
  const { options } = agent as Agent & { readonly options: AgentOptions };
  const isOwnClass = ![Agent.prototype, SecureAgent.prototype].includes(Object.getPrototypeOf(agent) as SecureAgent);
  // A method that was replaced on the agent itself.
  const isPatched = Object.values(agent).some((value) => typeof value === 'function');
  const entries = Object.entries(options).filter(([, value]) => value !== undefined && value !== null);
  if (isOwnClass || isPatched || entries.some(([name]) => ROUTING.includes(name))) return undefined;
  return Object.fromEntries(entries.filter(([name]) => !POOLING.includes(name)));
}
