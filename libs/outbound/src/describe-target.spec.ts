import { describe, expect, it } from '@jest/globals';
import { describeTarget } from './describe-target.js';

describe('The description of a target', () => {
  it('has scheme, host and path, and no credentials, query or fragment (SSRF-09b)', () => {
    expect(describeTarget('https://user:secret@hook.example:8443/a/b?token=secret#secret')).toBe(
      'https://hook.example:8443/a/b',
    );
    expect(describeTarget(new URL('http://hook.example/?token=secret'))).toBe('http://hook.example/');
  });

  it.each([
    ['nonsense?token=secret', 'a URL that cannot be read'],
    ['data:text/plain,secret', 'a data: URL'],
  ])('says of %s that it is %s', (url, text) => {
    expect(describeTarget(url)).toBe(text);
  });

  it('is plain ASCII on one line, and at most 200 characters long', () => {
    const text = describeTarget(`https://b\u00fccher.example/\u202e\n\u0085${'x'.repeat(1_000)}`);
    expect(text).toMatch(/^[\x21-\x7e]{200}$/u);
  });
});
