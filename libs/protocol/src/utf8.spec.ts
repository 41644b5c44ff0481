import { expect, it } from '@jest/globals';
import { JsonSyntaxError } from './json-syntax-error.js';
import { readStrictJson } from './strict-json.js';
import { decodeUtf8 } from './utf8.js';

it('decodes UTF-8 of any script', () => {
  expect(decodeUtf8(new TextEncoder().encode('<b>&amp; 漢字 😀'))).toBe('<b>&amp; 漢字 😀');
});

it.each([
  ['a stray byte', [0x22, 0xff, 0x22]],
  ['a truncated character', [0x22, 0xe6, 0xbc]],
  ['an overlong form', [0xc0, 0xaf]],
  ['an encoded surrogate', [0xed, 0xa0, 0x80]],
])('refuses %s (GATE-07a)', (_, bytes) => {
  expect(() => decodeUtf8(new Uint8Array(bytes))).toThrow(JsonSyntaxError);
});

it('keeps a byte order mark, so that the JSON reader refuses it', () => {
  const text = decodeUtf8(new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]));
  expect(() => readStrictJson(text)).toThrow(JsonSyntaxError);
});
