import { describe, expect, it } from '@jest/globals';
import { authorizationOf, isSentInTheClear } from './authorization.js';
import { resolvePushOptions } from './push.settings.js';

const withAuthentication = (scheme: string, credentials?: string) => ({
  url: 'https://hooks.example.com',
  authentication: { scheme, ...(credentials !== undefined && { credentials }) },
});

describe('The authorization that a config asks for', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'Basic', 'basic'])('is sent as it is with %s (PUSH-03a)', (scheme) => {
    expect(authorizationOf(withAuthentication(scheme, 'a b='))).toBe(`${scheme} a b=`);
  });

  it.each(['Digest', 'HMAC', 'Bearer x', ' Bearer', 'toString'])('is not sent with %j (PUSH-03a)', (scheme) => {
    expect(authorizationOf(withAuthentication(scheme, 'secret'))).toBeUndefined();
  });

  it('is not sent without credentials (PUSH-03a)', () => {
    expect(authorizationOf({ url: 'u' })).toBeUndefined();
    expect(authorizationOf(withAuthentication('Bearer'))).toBeUndefined();
    expect(authorizationOf(withAuthentication('Bearer', ''))).toBeUndefined();
  });
});

describe('Credentials', () => {
  const http = new URL('http://hooks.example.com');
  const https = new URL('https://hooks.example.com');
  const settings = resolvePushOptions();

  it('would be read by anybody over http, and by nobody over https (PUSH-04, CONF-40)', () => {
    expect(isSentInTheClear(http, withAuthentication('Bearer', 'secret'), settings)).toBe(true);
    expect(isSentInTheClear(https, withAuthentication('Bearer', 'secret'), settings)).toBe(false);
  });

  it('that cannot be sent are kept off http all the same (PUSH-04)', () => {
    expect(isSentInTheClear(http, withAuthentication('Digest', 'secret'), settings)).toBe(true);
  });

  it('that are not there do not matter, nor a token (PUSH-04)', () => {
    expect(isSentInTheClear(http, withAuthentication('Bearer'), settings)).toBe(false);
    expect(isSentInTheClear(http, { url: 'u', token: 'a token' }, settings)).toBe(false);
  });

  it('may go over http where webhooks may be private (PUSH-04)', () => {
    const config = withAuthentication('Bearer', 'secret');
    expect(isSentInTheClear(http, config, resolvePushOptions({ allowPrivate: true }))).toBe(false);
  });
});
