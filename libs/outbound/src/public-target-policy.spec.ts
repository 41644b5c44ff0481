import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { HOSTILE_URLS, PUBLIC_URLS } from '../../../test/support/url-corpus.js';
import type { NameLookup } from './name-lookup.js';
import { PublicTargetPolicy } from './public-target-policy.js';
import { TargetRefusedError } from './target-refused-error.js';

const policy = new PublicTargetPolicy();

describe('The policy for public targets', () => {
  it('is held against at least 150 hostile and 30 public URLs, each of them once (S-02)', () => {
    const urls = [...HOSTILE_URLS, ...PUBLIC_URLS].map(({ url }) => url);
    expect(new Set(urls).size).toBe(urls.length);
    expect(HOSTILE_URLS.length).toBeGreaterThanOrEqual(150);
    expect(PUBLIC_URLS.length).toBeGreaterThanOrEqual(30);
  });

  it.each(HOSTILE_URLS)('refuses $url: $note (S-02, SSRF-01, SSRF-02, SSRF-02c, SSRF-03)', ({ url }) => {
    expect(() => policy.checkUrl(url)).toThrow(TargetRefusedError);
  });

  it.each(PUBLIC_URLS)('accepts $url: $note (S-02)', ({ url }) => {
    expect(policy.checkUrl(url).href).toBe(new URL(url).href);
  });

  it.each([
    ['http://', 'INVALID_URL'],
    ['http://exam\tple.com/', 'INVALID_URL'],
    ['ftp://example.com/', 'SCHEME_NOT_ALLOWED'],
    ['http://user@example.com/', 'USERINFO_NOT_ALLOWED'],
    ['http://example.com:25/', 'PORT_NOT_ALLOWED'],
    ['http://localhost/', 'HOST_NOT_PUBLIC'],
    ['http://127.0.0.1/', 'ADDRESS_NOT_PUBLIC'],
  ])('says of %s that it is %s', (url, reason) => {
    expect(refusalOf(policy, url)).toMatchObject({ name: 'TargetRefusedError', reason });
  });

  it('says neither the URL nor an address in the text of a refusal (SSRF-09b)', async () => {
    const refusal = refusalOf(policy, 'http://user:secret@10.1.2.3/?token=secret');
    expect(refusal?.message).not.toMatch(/secret|10\.1/u);
    const rebound = await answering(['10.1.2.3'])
      .resolve(new URL('http://hook.example/'))
      .catch((error: unknown) => error);
    expect((rebound as Error).message).toBe('The host of the URL has an address that is not public.');
  });

  it('never lets a host through whose address it would refuse, however that is written (SSRF-03)', () => {
    const spelling = fc.tuple(fc.ipV4Extended(), fc.constantFrom('', '.'), fc.constantFrom('', ':8080'));
    fc.assert(
      fc.property(spelling, ([ip, dot, port]) => {
        const url = `http://${ip}${dot}${port}/`;
        if (refusalOf(policy, url) !== undefined) return;
        expect(() => {
          policy.checkAddress(new URL(url).hostname, 'hook.example');
        }).not.toThrow();
      }),
    );
  });

  describe('that allows private hosts', () => {
    const open = new PublicTargetPolicy({ allowPrivate: true });

    it.each(['http://127.0.0.1:8080/', 'http://localhost/', 'http://redis/', 'https://[::1]/', 'http://a.internal/'])(
      'accepts %s (SSRF-08)',
      (url) => {
        expect(open.checkUrl(url).href).toBe(url);
      },
    );

    it.each([
      ['file:///etc/passwd', 'SCHEME_NOT_ALLOWED'],
      ['http://user:secret@localhost/', 'USERINFO_NOT_ALLOWED'],
      ['http://@localhost/', 'USERINFO_NOT_ALLOWED'],
      ['http:///', 'INVALID_URL'],
      ['http://localhost:25/', 'PORT_NOT_ALLOWED'],
    ])('still refuses %s: %s (SSRF-01)', (url, reason) => {
      expect(refusalOf(open, url)).toMatchObject({ reason });
    });
  });

  it('refuses http when https is required (CONF-40)', () => {
    const strict = new PublicTargetPolicy({ requireHttps: true });
    expect(refusalOf(strict, 'http://example.com/')).toMatchObject({ reason: 'HTTPS_REQUIRED' });
    expect(strict.checkUrl('https://example.com/').protocol).toBe('https:');
  });

  it('allows the listed ports only, those that a URL leaves out included', () => {
    const strict = new PublicTargetPolicy({ allowedPorts: [443, 8443] });
    expect(refusalOf(strict, 'http://example.com/')).toMatchObject({ reason: 'PORT_NOT_ALLOWED' });
    expect(refusalOf(strict, 'https://example.com:8080/')).toMatchObject({ reason: 'PORT_NOT_ALLOWED' });
    expect(strict.checkUrl('https://example.com/').port).toBe('');
    expect(strict.checkUrl('https://example.com:8443/').port).toBe('8443');
  });

  it('lets the listed hosts be private, and no others', async () => {
    const listed = new PublicTargetPolicy({
      allowHosts: ['Hooks.Internal.', '10.0.0.7', '[::1]'],
      lookup: async () => ['10.0.0.8'],
    });
    for (const url of ['http://hooks.internal/', 'http://10.0.0.7/', 'http://[::1]/']) {
      await listed.resolve(listed.checkUrl(url));
    }
    for (const url of ['http://a.hooks.internal/', 'http://10.0.0.8/', 'http://127.0.0.1/']) {
      expect(() => listed.checkUrl(url)).toThrow(TargetRefusedError);
    }
    await expect(listed.resolve(new URL('http://hook.example/'))).rejects.toThrow(TargetRefusedError);
  });
});

describe('A target at its registration', () => {
  const target = new URL('https://hook.example/');

  it('is accepted when all its addresses are public (SSRF-04b)', async () => {
    await expect(answering(['8.8.8.8', '2606:4700:4700::1111']).resolve(target)).resolves.toBeUndefined();
  });

  it.each([['127.0.0.1'], ['10.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['fe80::1%eth0'], ['169.254.169.254']])(
    'is refused when its name also stands for %s (SSRF-04b)',
    async (address) => {
      await expect(answering(['8.8.8.8', address]).resolve(target)).rejects.toMatchObject({
        reason: 'ADDRESS_NOT_PUBLIC',
      });
    },
  );

  it('is accepted when its name does not resolve (SSRF-04a)', async () => {
    const lookup: NameLookup = async () => {
      throw new Error('queryA ENOTFOUND hook.example');
    };
    await expect(new PublicTargetPolicy({ lookup }).resolve(target)).resolves.toBeUndefined();
  });

  it('is accepted when its name takes longer than three seconds to resolve (SSRF-04a)', async () => {
    jest.useFakeTimers();
    try {
      const signals: AbortSignal[] = [];
      const lookup: NameLookup = async (_name, signal) => {
        signals.push(signal);
        return new Promise(() => {});
      };
      let isDone = false;
      const resolving = new PublicTargetPolicy({ lookup }).resolve(target).then(() => (isDone = true));
      await jest.advanceTimersByTimeAsync(2_999);
      expect(isDone).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      await resolving;
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is no longer waited for when the caller has left', async () => {
    const controller = new AbortController();
    const reason = new Error('The caller has left.');
    const lookup: NameLookup = async () => {
      controller.abort(reason);
      return new Promise(() => {});
    };
    await expect(new PublicTargetPolicy({ lookup }).resolve(target, controller.signal)).rejects.toBe(reason);
  });

  it('is judged by a literal address without a look-up', async () => {
    const lookup = jest.fn<NameLookup>();
    await expect(new PublicTargetPolicy({ lookup }).resolve(new URL('http://[::1]/'))).rejects.toThrow(
      TargetRefusedError,
    );
    expect(lookup).not.toHaveBeenCalled();
  });
});

function answering(addresses: readonly string[]): PublicTargetPolicy {
  return new PublicTargetPolicy({ lookup: async () => addresses });
}

function refusalOf(judge: PublicTargetPolicy, url: string): TargetRefusedError | undefined {
  try {
    judge.checkUrl(url);
    return undefined;
  } catch (error) {
    return error as TargetRefusedError;
  }
}
