import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { baseUrlOfRequest, InvalidHostError, isBaseUrl, pinnedBaseUrl } from './base-url.js';

describe('The base URL of a request (CARD-05, S-16)', () => {
  it.each([
    [{ headers: { host: 'agent.example.com' } }, 'http://agent.example.com'],
    [{ host: 'Agent.Example.COM:8443', protocol: 'HTTPS' }, 'https://agent.example.com:8443'],
    [{ host: 'a', headers: { host: 'b' } }, 'http://a'],
    [{ host: '[2001:db8::1]:80' }, 'http://[2001:db8::1]:80'],
    [{ originalUrl: 'https://c/x', host: 'a', protocol: 'https' }, 'https://c'],
    [{ raw: { url: 'http://c:1?x' }, host: 'a' }, 'http://c:1'],
    [{ url: '/http://evil', host: 'a' }, 'http://a'],
    [{ host: '', headers: {} }, 'http://localhost'],
    [{}, 'http://localhost'],
  ])('of %j is %s', (request, url) => {
    expect(baseUrlOfRequest(request)).toEqual({ url, isPinned: false });
  });

  it('is a URL with nothing behind the host, or there is none, whatever the host is', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('a1.-_:@/\\[]"?# %\r\n<é')) }), (host) => {
        try {
          const { url } = baseUrlOfRequest({ host });
          const { pathname, username, search, hash } = new URL(url);
          expect([pathname, username, search, hash]).toEqual(['/', '', '', '']);
          expect(url).toMatch(/^http:\/\/[\w.:[\]-]+$/u);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidHostError);
        }
      }),
    );
  });
});

describe('A base URL of the configuration (CARD-05)', () => {
  it.each(['https://a.example', 'HTTP://a', 'http://localhost:3000/', 'https://a.example/below/this//'])(
    'can be %s',
    (url) => {
      expect(isBaseUrl(url)).toBe(true);
      expect(pinnedBaseUrl(url)).toEqual({ url: url.replace(/\/+$/u, ''), isPinned: true });
    },
  );

  it.each(['', 'a.example', '/a', 'ftp://a', 'https://', 'https://a b', 'https://a?b', 'https://a#b', 'https://é', 7])(
    'cannot be %p',
    (url) => {
      expect(isBaseUrl(url)).toBe(false);
    },
  );
});
