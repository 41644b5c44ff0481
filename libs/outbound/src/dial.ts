import { once } from 'node:events';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { hostOf, portOf } from './parse-target.js';
import type { TargetPolicy } from './target-policy.js';

/** How long one address has before the next is tried as well, in milliseconds. */
const ATTEMPT_TIMEOUT_MS = 1_000;

/**
 * Finds the addresses that a request to a target may go to: those of its name, or the literal one.
 *
 * @throws {TargetRefusedError} when any of them is refused
 */
export async function admittedAddresses(
  target: URL,
  policy: TargetPolicy,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const host = hostOf(target);
  const addresses = isIP(host) === 0 ? await policy.lookup(host, signal) : [host];
  // A name that mixes public and private addresses is an attempt to have the private one tried.
  for (const address of addresses) policy.checkAddress(address, host);
  if (addresses.length === 0) throw new Error(`${host} has no address.`);
  return addresses;
}

/**
 * Opens a connection of its own to a target.
 *
 * - It goes to one of the given addresses; no name is looked up.
 * - The address at its other end is checked before a byte is sent, of TLS as well.
 * - It ends when the signal aborts.
 *
 * @param options How the connection is made. Certificates are verified unless they say otherwise.
 * @throws {TargetRefusedError}
 */
export async function dial(
  target: URL,
  addresses: readonly string[],
  policy: TargetPolicy,
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Socket> {
  // A look-up that cannot be ended may come back when nobody waits any more.
  signal.throwIfAborted();
  const host = hostOf(target);
  const socket = connect({
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT_MS,
    ...options,
    host,
    port: portOf(target),
    lookup: pinnedTo(addresses),
    signal,
  });
  socket.on('error', ignore);
  try {
    await once(socket, 'connect');
    policy.checkAddress(socket.remoteAddress ?? '', host);
    return target.protocol === 'https:' ? await secure(socket, host, options) : socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function secure(socket: Socket, host: string, options: ConnectionOptions): Promise<Socket> {
  const secured = connectTls({
    // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED does not count.
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
    // Addresses are no server names, but are checked against the certificate as the host.
    ...(isIP(host) === 0 && { servername: host }),
    ...options,
    host,
    socket,
  });
  secured.on('error', ignore);
  await once(secured, 'secureConnect');
  return secured;
}

/** A look-up that answers with what was found, and checked, before. */
function pinnedTo(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all, family }, callback) => {
    const fitting = found.filter((entry) => !family || family === entry.family);
    const [first] = fitting;
    if (all === true) callback(null, fitting);
    else if (first === undefined) callback(new Error('There is no address of the wanted family.'), []);
    else callback(null, first.address, first.family);
  };
}

/** Who waits for the connection hears of its errors; those that come later have nobody to tell. */
function ignore(): void {
  // Without a listener the error would end the process.
}
