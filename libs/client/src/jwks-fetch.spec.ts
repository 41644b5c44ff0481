import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fetchJwks, MAX_JWKS_BYTES } from './jwks-fetch.js';

const url = new URL('https://keys.example/jwks.json');
const realFetch = globalThis.fetch;

describe('fetching a key set (CARD-14, S-07)', () => {
  let server: Server;
  let answer: RequestListener;
  let asked: string[];

  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      asked.push(request.url ?? '');
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // The same request, without TLS and to the server here.
    globalThis.fetch = (input, init) => realFetch(new URL((input as URL).pathname, base), init);
  });

  afterEach(async () => {
    globalThis.fetch = realFetch;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const never = new AbortController().signal;

  it('gives the JSON that is there', async () => {
    answer = ({ headers }, response) => response.end(JSON.stringify({ keys: [], accept: headers.accept }));
    expect(await fetchJwks(url, never)).toEqual({ keys: [], accept: 'application/jwk-set+json, application/json' });
  });

  it('refuses every scheme but https, and asks nobody', async () => {
    for (const text of ['http://keys.example/', 'file:///etc/passwd', 'data:application/json,{}']) {
      await expect(fetchJwks(new URL(text), never)).rejects.toThrow('https');
    }
    expect(asked).toEqual([]);
  });

  it('follows no redirect', async () => {
    answer = (_request, response) => response.writeHead(302, { Location: '/elsewhere' }).end();
    await expect(fetchJwks(url, never)).rejects.toThrow();
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
