import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.js';
import type { JsonValue } from './json.js';
import { NotJsonError } from './not-json-error.js';

/** RFC 8785 appendix B: IEEE 754 bits and their text. */
const NUMBERS: readonly (readonly [bits: string, text: string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

const numberOf = (bits: string): number => Buffer.from(bits, 'hex').readDoubleBE();

describe('canonical JSON', () => {
  it.each(NUMBERS)('writes the number %s as %s (RFC 8785 appendix B, CARD-09)', (bits, text) => {
    expect(canonicalJson(numberOf(bits))).toBe(text);
  });

  it.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])(
    'refuses the number %s (RFC 8785 appendix B)',
    (bits) => {
      expect(() => canonicalJson([{ a: numberOf(bits) }])).toThrow(NotJsonError);
      expect(() => canonicalJson([{ a: numberOf(bits) }])).toThrow(/\[0\]\.a is not JSON/);
    },
  );

  it('writes the sample of RFC 8785 §3.2.2 as §3.2.3 has it (CARD-09)', () => {
    const sample = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    const canonical = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`;
    expect(canonicalJson(JSON.parse(sample) as JsonValue)).toBe(canonical);
    // The octets of §3.2.4, at the place where UTF-8 shows.
    expect(Buffer.from(canonical).toString('hex')).toContain('22737472696e67223a22e282ac245c7530303066');
  });

  it('orders members by the UTF-16 code units of their names (RFC 8785 §3.2.3, CARD-09)', () => {
    const sample = String.raw`{
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis"
    }`;
    const written = canonicalJson(JSON.parse(sample) as JsonValue);
    const values = [...written.matchAll(/:"([^"]*)"/g)].map(([, value]) => value);
    expect(values).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it('orders members at every depth and leaves arrays as they are', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }, 3, 1], a: {} })).toBe('{"a":{},"b":[{"c":2,"d":1},3,1]}');
    expect(canonicalJson({ '10': 0, '9': 0, '': 0, a: 0, A: 0 })).toBe('{"":0,"10":0,"9":0,"A":0,"a":0}');
  });

  it('escapes control characters, quotes and backslashes, and nothing else (RFC 8785 §3.2.2.2)', () => {
    expect(canonicalJson('\b\t\n\f\r\u0000\u001f\u007f"\\/<é\u2028')).toBe(
      String.raw`"\b\t\n\f\r\u0000\u001f` + '\u007f' + String.raw`\"\\/<é` + '\u2028"',
    );
  });

  it('keeps a key such as __proto__ as data (S-17)', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"z":1}}') as JsonValue)).toBe('{"__proto__":{"z":1},"b":1}');
  });

  it.each([['\ud800'], ['a\udc00'], [{ '\ud83d': 1 }], [{ a: ['\ude00\ud83d'] }]])(
    'refuses a lone surrogate: %j (RFC 8785 §3.2.2.2)',
    (value) => {
      expect(() => canonicalJson(value as JsonValue)).toThrow(/lone surrogate/);
    },
  );

  it('refuses what is no JSON', () => {
    for (const value of [undefined, [undefined], () => 1, 1n, Symbol('s')]) {
      expect(() => canonicalJson(value as unknown as JsonValue)).toThrow(NotJsonError);
    }
    expect(canonicalJson({ a: undefined } as unknown as JsonValue)).toBe('{}');
  });

  it('refuses nesting that would outgrow the stack', () => {
    let deep: JsonValue = [];
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    expect(() => canonicalJson(deep)).toThrow(/too deep/);
  });

  it('says the same for every order of members, and reads back as what it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' }), (value) => {
        const written = canonicalJson(value as JsonValue);
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value as JsonValue))).toBe(written);
      }),
    );
  });
});

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}
