import { decodeUtf8, readStrictJson } from '#protocol';

/**
 * Reads a JWK set. It is only called for `https` URLs at hosts that the caller of the verification trusts.
 *
 * One of your own has to keep to that: no redirects, a bound on size, and no addresses of your own network.
 *
 * @param signal Aborts when the time for all key sets of a verification is over.
 * @returns The parsed JSON.
 */
export type JwksFetch = (url: URL, signal: AbortSignal) => Promise<unknown>;

/** The most that is read of a key set, in bytes. */
export const MAX_JWKS_BYTES = 65_536;

/**
 * Reads a JWK set over `https`: no redirects, no credentials, at most 64 KiB.
 *
 * It connects to whatever address the host's name has. Where names may be made to point into your own network, give a
 * fetch that looks at addresses.
 *
 * @throws {TypeError} When the answer is no JSON that is small enough.
 */
export const fetchJwks: JwksFetch = async (url, signal) => {
  if (url.protocol !== 'https:') throw new TypeError('A key set is only read over https');
  const response = await fetch(url, {
    signal,
    redirect: 'error',
    credentials: 'omit',
    headers: { Accept: 'application/jwk-set+json, application/json' },
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new TypeError(`The key set was answered with ${response.status}`);
  }
  return readStrictJson(decodeUtf8(await readBytes(response))).value;
};

async function readBytes(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const body = response.body as AsyncIterable<Uint8Array> | null;
  // Leaving the loop cancels the body.
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_JWKS_BYTES) throw new TypeError(`The key set has more than ${MAX_JWKS_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
