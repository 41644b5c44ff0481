import type { RequestListener } from 'node:http';
import { Agent } from 'node:https';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PublicTargetPolicy, TargetRefusedError } from '#outbound';
import { startSecureReceiver, type Receiver } from '../../../test/support/receiver.js';
import { TLS_IDENTITY } from '../../../test/support/tls-identity.js';
import { jwksFetch, MAX_JWKS_BYTES, type JwksFetch } from './jwks-fetch.js';

const HOST = 'hook.example';

describe('fetching a key set (CARD-14, S-07)', () => {
  let server: Receiver;
  let answer: RequestListener;
  let asked: string[];
  let url: URL;
  let fetchJwks: JwksFetch;

  beforeEach(async () => {
    asked = [];
    server = await startSecureReceiver((request, response) => {
      asked.push(request.url ?? '');
      answer(request, response);
    });
    url = new URL(`https://${HOST}:${server.port}/jwks.json`);
    const policy = new PublicTargetPolicy({ allowHosts: [HOST], lookup: async () => ['127.0.0.1'] });
    fetchJwks = jwksFetch({ policy, agent: new Agent({ ca: TLS_IDENTITY.cert }) });
  });

  afterEach(() => server.close());

  const never = new AbortController().signal;

  it('gives the JSON that is there', async () => {
    answer = ({ headers }, response) => response.end(JSON.stringify({ keys: [], accept: headers.accept }));
    expect(await fetchJwks(url, never)).toEqual({ keys: [], accept: 'application/jwk-set+json, application/json' });
  });

  it('refuses every scheme but https, and asks nobody', async () => {
    for (const text of [`http://${HOST}:${server.port}/`, 'file:///etc/passwd', 'data:application/json,{}']) {
      await expect(fetchJwks(new URL(text), never)).rejects.toThrow('https');
    }
    expect(server.connections).toBe(0);
  });

  it('asks nobody in a private network, whatever the name says', async () => {
    const lookup = async () => ['127.0.0.1'];
    const guarded = jwksFetch({ policy: new PublicTargetPolicy({ lookup }) });
    await expect(guarded(url, never)).rejects.toBeInstanceOf(TargetRefusedError);
    await expect(jwksFetch()(new URL(`https://127.0.0.1:${server.port}/`), never)).rejects.toBeInstanceOf(
      TargetRefusedError,
    );
    expect(server.connections).toBe(0);
  });

  it('believes no certificate that nobody vouches for', async () => {
    answer = (_request, response) => response.end('{"keys":[]}');
    const policy = new PublicTargetPolicy({ allowHosts: [HOST], lookup: async () => ['127.0.0.1'] });
    await expect(jwksFetch({ policy })(url, never)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(asked).toEqual([]);
  });

  it('follows no redirect', async () => {
    answer = (_request, response) => response.writeHead(302, { Location: '/elsewhere' }).end();
    await expect(fetchJwks(url, never)).rejects.toThrow('302');
    expect(asked).toEqual(['/jwks.json']);
  });

  it.each([204, 404, 500])('refuses the status %d', async (status) => {
    answer = (_request, response) => response.writeHead(status).end();
    await expect(fetchJwks(url, never)).rejects.toThrow(String(status));
  });

  it('reads no more than 64 KiB', async () => {
    const json = (size: number) => JSON.stringify({ keys: [], x: 'x'.repeat(size - 18) });
    answer = (_request, response) => response.end(json(MAX_JWKS_BYTES));
    await expect(fetchJwks(url, never)).resolves.toHaveProperty('keys');
    answer = (_request, response) => response.end(json(MAX_JWKS_BYTES + 1));
    await expect(fetchJwks(url, never)).rejects.toThrow(/more than 65536 bytes/);
    // One that never ends.
    answer = (_request, response) => {
      const write = (): void => {
        if (response.destroyed) return;
        if (response.write(Buffer.alloc(16_384, ' '))) setImmediate(write);
        else response.once('drain', write);
      };
      write();
    };
    await expect(fetchJwks(url, never)).rejects.toThrow(/more than 65536 bytes/);
  });

  it.each(['', '{', 'ÿ', '{"keys":[]} x'])('refuses what is no JSON: %j', async (text) => {
    answer = (_request, response) => response.end(Buffer.from(text, 'latin1'));
    await expect(fetchJwks(url, never)).rejects.toThrow();
  });

  it('ends with its signal, while the body comes too', async () => {
    const controller = new AbortController();
    answer = (_request, response) => {
      response.write('{');
      controller.abort();
    };
    await expect(fetchJwks(url, controller.signal)).rejects.toThrow();
  });
});
