import { afterEach, describe, expect, it } from '@jest/globals';
import { Resolver } from 'node:dns/promises';
import { type NameAnswer, type NameServer, startNameServer } from '../../../test/support/name-server.js';
import { lookupBySystem, lookupInDns } from './name-lookup.js';

const NO_SUCH_NAME = 3;
const FAILURE = 2;
const V6 = [0x26, 0x06, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11];

describe('A look-up in DNS', () => {
  let server: NameServer;

  afterEach(() => {
    server.close();
  });

  async function lookup(v4: NameAnswer, v6: NameAnswer, signal = new AbortController().signal) {
    server = await startNameServer({ v4, v6 });
    const resolver = new Resolver({ timeout: 10_000, tries: 1 });
    resolver.setServers([server.address]);
    return lookupInDns('hook.example', signal, resolver);
  }

  it('finds the addresses of both families, all of them', async () => {
    expect(
      await lookup(
        [
          [8, 8, 8, 8],
          [127, 0, 0, 1],
        ],
        [V6],
      ),
    ).toEqual(['8.8.8.8', '127.0.0.1', '2606:4700::1111']);
  });

  it.each([
    ['no address of the other', []],
    ['an error for the other', FAILURE],
  ])('is content with one family when there is %s', async (_name, answer) => {
    expect(await lookup([[8, 8, 8, 8]], answer)).toEqual(['8.8.8.8']);
    server.close();
    expect(await lookup(answer, [V6])).toEqual(['2606:4700::1111']);
  });

  it('fails when there is no such name', async () => {
    await expect(lookup(NO_SUCH_NAME, NO_SUCH_NAME)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('ends with its signal when the name server does not answer', async () => {
    const controller = new AbortController();
    const looking = lookup(undefined, undefined, controller.signal);
    const failure = expect(looking).rejects.toMatchObject({ code: 'ECANCELLED' });
    setImmediate(() => {
      controller.abort();
    });
    await failure;
  });
});

describe('A look-up by the system', () => {
  it('knows the names of the hosts file', async () => {
    const addresses = await lookupBySystem('localhost');
    expect(['127.0.0.1', '::1']).toEqual(expect.arrayContaining([...addresses]));
    expect(addresses.length).toBeGreaterThan(0);
  });
});
