import { keysNamed, keysOf, type TrustedJwk } from '../jwk-set.js';
import type { JwksFetch } from '../jwks-fetch.js';

/** For how long a key set counts as fresh, in milliseconds: a key that was taken off it is trusted no longer than that. */
const FRESH_MS = 600_000;
/** The least time between two readings, whatever asks for them, in milliseconds. */
const COOLDOWN_MS = 30_000;
/** How long one reading may take, in milliseconds. */
const FETCH_TIMEOUT_MS = 5_000;

/**
 * The key set at a URL.
 *
 * - It is read when it is first needed, when it is ten minutes old, and for a `kid` that it does not have.
 * - However many ask, and whether it can be read or not, it is read at most every thirty seconds: who sends unknown `kid`s
 *   cannot make us call that host.
 */
export class CachedKeySet {
  private readonly url: URL;
  private keys: readonly TrustedJwk[] = [];
  private failure: unknown;
  private readAt = -Infinity;
  private triedAt = -Infinity;
  private reading: Promise<void> | undefined;

  /** @throws {TypeError} When the URL is not https, or holds credentials. */
  constructor(
    url: string | URL,
    private readonly fetchJwks: JwksFetch,
    private readonly now: () => number,
  ) {
    this.url = new URL(url);
    if (this.url.protocol !== 'https:' || this.url.username !== '' || this.url.password !== '') {
      throw new TypeError('jwksUrl has to be https, without credentials');
    }
  }

  /**
   * The keys of that name.
   *
   * @throws {TypeError} When the set cannot be read.
   */
  async named(kid: string): Promise<readonly TrustedJwk[]> {
    const isFresh = this.isWithin(FRESH_MS, this.readAt);
    const known = isFresh ? await keysNamed(this.keys, kid) : [];
    if (known.length > 0) return known;
    if (this.reading !== undefined || !this.isWithin(COOLDOWN_MS, this.triedAt)) await this.readAgain();
    if (!this.isWithin(FRESH_MS, this.readAt)) {
      throw new TypeError(`The key set at ${this.url.host} cannot be read`, { cause: this.failure });
    }
    return keysNamed(this.keys, kid);
  }

  private readAgain(): Promise<void> {
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async read(): Promise<void> {
    this.triedAt = this.now();
    try {
      this.keys = keysOf(await this.fetchJwks(this.url, AbortSignal.timeout(FETCH_TIMEOUT_MS)));
      this.readAt = this.now();
    } catch (error) {
      this.failure = error;
    }
  }

  private isWithin(ms: number, since: number): boolean {
    const age = this.now() - since;
    return age >= 0 && age < ms;
  }
}
