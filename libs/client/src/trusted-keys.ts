import { keysNamed, keysOf, mayVerify, type JwkSet, type TrustedJwk } from './jwk-set.js';
import type { JwksFetch } from './jwks-fetch.js';
import type { CardSignature } from './signature-reader.js';
import { AgentCardVerificationError } from './verification-error.js';

/** Where the key of a good signature came from: the caller's own set, or the `jku` of the signature. */
export type KeySource = 'pinned' | 'jku';

/** The keys that a signature may have been made with. */
export interface FoundKeys {
  readonly source: KeySource;
  readonly keys: readonly TrustedJwk[];
}

/** What is trusted. */
export interface Trust {
  readonly keys?: JwkSet;
  readonly jwksUrls?: readonly string[];
  readonly jwksHosts?: readonly string[];
}

/**
 * Finds the trusted keys for the signatures of one card.
 *
 * - A `kid` only selects among keys that are trusted already.
 * - Pinned keys decide alone about the `kid`s that they have: a key set from elsewhere cannot bring another of that name.
 * - A `jku` is read only over https, only when it, or its host, is on a list, and once.
 */
export class TrustedKeys {
  private readonly hosts: ReadonlySet<string>;
  private readonly urls: ReadonlySet<string>;
  private signal: AbortSignal | undefined;
  private readonly sets = new Map<string, Promise<readonly TrustedJwk[]>>();

  /**
   * @param openSignal Makes the signal that ends the reading of key sets, when the first is read.
   * @throws {TypeError} When an entry of `jwksHosts` is no host, or one of `jwksUrls` no https URL.
   */
  constructor(
    private readonly trust: Trust,
    private readonly fetchJwks: JwksFetch,
    private readonly openSignal: () => AbortSignal,
  ) {
    this.hosts = new Set((trust.jwksHosts ?? []).map(normalHost));
    this.urls = new Set((trust.jwksUrls ?? []).map(normalUrl));
  }

  /**
   * The pinned keys of that `kid`; undefined when there are none.
   *
   * @throws {AgentCardVerificationError} `untrusted_key` when there are, and none may be used.
   */
  async pinned({ kid }: CardSignature): Promise<FoundKeys | undefined> {
    const named = await keysNamed(this.trust.keys?.keys ?? [], kid);
    return named.length > 0 ? { source: 'pinned', keys: usable(named) } : undefined;
  }

  /**
   * The keys of that `kid` at the signature's `jku`.
   *
   * @throws {AgentCardVerificationError} `untrusted_key` or `key_unavailable`
   */
  async remote({ kid, jku }: CardSignature): Promise<FoundKeys> {
    if (jku === undefined) throw untrusted('No trusted key has the "kid" of the signature.');
    const url = this.trustedUrl(jku);
    let set = this.sets.get(url.href);
    if (set === undefined) {
      set = this.fetchSet(url);
      this.sets.set(url.href, set);
    }
    return { source: 'jku', keys: usable(await keysNamed(await set, kid)) };
  }

  private trustedUrl(jku: string): URL {
    const url = URL.canParse(jku) ? new URL(jku) : undefined;
    const isPlain = url?.protocol === 'https:' && url.username === '' && url.password === '';
    if (!isPlain) throw untrusted('The "jku" is not at a trusted host.');
    url.hash = '';
    if (this.urls.has(url.href) || this.hosts.has(url.host)) return url;
    throw untrusted('The "jku" is not at a trusted host.');
  }

  private async fetchSet(url: URL): Promise<readonly TrustedJwk[]> {
    try {
      this.signal ??= this.openSignal();
      return keysOf(await this.fetchJwks(url, this.signal));
    } catch (cause) {
      const message = `The key set at ${url.host} cannot be read.`;
      throw new AgentCardVerificationError('key_unavailable', message, [], { cause });
    }
  }
}

function usable(keys: readonly TrustedJwk[]): readonly TrustedJwk[] {
  const found = keys.filter(mayVerify);
  if (found.length === 0) throw untrusted('No trusted key has the "kid" of the signature and may be used.');
  return found;
}

/** A host as URLs have it: lower case, without the default port. */
function normalHost(host: string): string {
  const url = URL.canParse(`https://${host}`) ? new URL(`https://${host}`) : undefined;
  if (url === undefined || url.href !== `https://${url.host}/` || host.endsWith('/')) {
    throw new TypeError(`jwksHosts: "${host}" is no host. Write it as keys.example.com or keys.example.com:8443.`);
  }
  return url.host;
}

function normalUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new TypeError(`jwksUrls: "${text}" is no https URL of a key set.`);
  }
  return url.href;
}

function untrusted(message: string): AgentCardVerificationError {
  return new AgentCardVerificationError('untrusted_key', message);
}
