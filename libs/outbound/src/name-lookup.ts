import { lookup as askSystem, Resolver } from 'node:dns/promises';

/**
 * Finds all addresses of a host name, IPv4 and IPv6.
 *
 * @param signal Ends the search.
 */
export type NameLookup = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/** A name server has 1.5 s, then 3 s, before the next one is asked. */
const RESOLVER = { timeout: 1_500, tries: 2 };

/**
 * Asks the name servers themselves, past the hosts file.
 *
 * Fit for names that strangers chose: the system's resolver holds one of the few threads of the pool while it waits, so
 * that a handful of slow name servers would stop the files, the cryptography and the other look-ups of the process.
 *
 * @param resolver Used for this look-up alone, since its end ends all that the resolver is asked.
 */
export async function lookupInDns(
  hostname: string,
  signal: AbortSignal,
  resolver = new Resolver(RESOLVER),
): Promise<readonly string[]> {
  signal.throwIfAborted();
  const cancel = (): void => {
    resolver.cancel();
  };
  signal.addEventListener('abort', cancel);
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    // Most names have no address of one family, which is an error of that family alone.
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    return [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Asks the system, with its hosts file and search domains. It cannot be ended early. */
export async function lookupBySystem(hostname: string): Promise<readonly string[]> {
  const addresses = await askSystem(hostname, { all: true });
  return addresses.map(({ address }) => address);
}
