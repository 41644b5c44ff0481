import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonSyntaxError } from './json-syntax-error.js';
import { readStrictJson } from './strict-json.js';

const read = (text: string) => readStrictJson(text).value;

describe('what readStrictJson reads', () => {
  it('equals what JSON.parse reads, however it is spaced', () => {
    const spaces = fc.constantFrom(undefined, 1, '\t', '\n\r ');
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, stringUnit: 'binary' }), spaces, (text, space) => {
        const spaced = JSON.stringify(JSON.parse(text), null, space);
        expect(read(spaced)).toEqual(JSON.parse(spaced));
        expect(JSON.stringify(read(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 2000 },
    );
  });

  it('is any JSON value at the top', () => {
    for (const text of ['null', 'true', 'false', '0', '-0', '1e3', '-1.5E-7', '""', '[]', '{}', ' \t\r\n1 ']) {
      expect(read(text)).toEqual(JSON.parse(text));
    }
  });

  it('keeps every escape, lone surrogates too', () => {
    const text = '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00\\ud800 long enough to be a slice"';
    expect(read(text)).toBe(JSON.parse(text));
  });

  it('finds the end of a string behind any run of backslashes', () => {
    for (const text of ['"\\\\"', '"\\\\\\""', '["\\\\","\\\\\\\\"]', '"\\"\\"\\""']) {
      expect(read(text)).toEqual(JSON.parse(text));
    }
  });
});

describe('what readStrictJson refuses', () => {
  it('is exactly what JSON.parse refuses, when a text is mutated (GATE-07)', () => {
    const mutation = fc.record({
      text: fc.json({ maxDepth: 3 }),
      at: fc.nat(),
      drop: fc.nat({ max: 2 }),
      add: fc.constantFrom(
        '',
        '"',
        '\\',
        ',',
        ':',
        '{',
        '}',
        '[',
        ']',
        '0',
        '-',
        '.',
        'e',
        't',
        '\u0001',
        ' ',
        '\ufeff',
      ),
    });
    fc.assert(
      fc.property(mutation, ({ text, at, drop, add }) => {
        const index = at % (text.length + 1);
        const mutated = text.slice(0, index) + add + text.slice(index + drop);
        expect(outcome(() => readStrictJson(mutated).value)).toEqual(outcome(() => JSON.parse(mutated, finite)));
      }),
      { numRuns: 10_000 },
    );
  });

  it.each([
    ['nothing', ''],
    ['white space alone', '  '],
    ['a truncated object (B-01)', '{"jsonrpc":"2.0",'],
    ['trailing text (GATE-07b)', '{} x'],
    ['a second value', '{}{}'],
    ['a byte order mark', '\ufeff{}'],
    ['a space that is none of the four', '\u00a0{}'],
    ['a trailing comma', '[1,]'],
    ['a comma at the start', '[,1]'],
    ['a missing comma', '[1 2]'],
    ['a key without quotes', '{a:1}'],
    ['single quotes', "'a'"],
    ['a missing colon', '{"a" 1}'],
    ['a trailing comma in an object', '{"a":1,}'],
    ['a comment', '[1/**/]'],
    ['a bare word', 'undefined'],
    ['NaN', 'NaN'],
    ['a half word', 'tru'],
    ['a word too long', 'truex'],
    ['a leading zero', '01'],
    ['a leading plus', '+1'],
    ['a fraction without digits', '1.'],
    ['an exponent without digits', '1e'],
    ['a bare minus', '-'],
    ['hexadecimal', '0x1'],
    ['a number past the range of a double', '1e400'],
    ['one below it', '[-1e999]'],
    ['a raw line end in a string', '"a\nb"'],
    ['a raw control character in a long string', `"${'x'.repeat(50)}\u0000"`],
    ['an unknown escape', '"\\x41"'],
    ['a short unicode escape', '"\\u12"'],
    ['an open string', '"abc'],
    ['a string that ends in an escape', '"abc\\"'],
    ['a mismatched bracket', '[1}'],
  ])('%s', (_, text) => {
    expect(() => readStrictJson(text)).toThrow(JsonSyntaxError);
  });

  it('is nesting deeper than the bound (GATE-10a)', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(() => read(nested(128))).not.toThrow();
    expect(() => read(nested(129))).toThrow(JsonSyntaxError);
    expect(() => readStrictJson('{"a":{}}', { maxDepth: 1 })).toThrow(JsonSyntaxError);
    expect(() => readStrictJson('{"a":[1]}', { maxDepth: 2 })).not.toThrow();
  });

  it('never overflows the stack, whatever bound is asked for (GATE-10a)', () => {
    const text = '{"a":'.repeat(200_000);
    expect(() => readStrictJson(text, { maxDepth: Infinity })).toThrow(JsonSyntaxError);
  });

  it('says where, and never quotes the text', () => {
    const error = outcomeError(() => readStrictJson('{"secret": "tok\u0001en"}'));
    expect(error).toMatchObject({ name: 'JsonSyntaxError', position: 11 });
    expect(error.message).not.toMatch(/secret|tok/);
    expect(outcomeError(() => readStrictJson('[1, SECRET]'))).toMatchObject({ position: 4 });
    expect(outcomeError(() => readStrictJson('[1, SECRET]')).message).not.toContain('SECRET');
  });
});

describe('the duplicates that readStrictJson reports', () => {
  const duplicates = (text: string) => readStrictJson(text).duplicates;

  it('are the paths of repeated keys at any depth (GATE-08a, GATE-09a)', () => {
    expect(duplicates('{"a":1,"b":[{"c":1,"c":2}],"a":2}')).toEqual([['b', 0, 'c'], ['a']]);
    expect(duplicates('[{"x":{"y":1,"z":1,"y":1}}]')).toEqual([[0, 'x', 'y']]);
  });

  it('are compared after unescaping (R-42)', () => {
    expect(duplicates('{"method":1,"\\u006dethod":2}')).toEqual([['method']]);
  });

  it('do not hold keys that differ in case, or that objects inherit', () => {
    expect(duplicates('{"id":1,"ID":2,"constructor":1,"toString":2,"hasOwnProperty":3}')).toEqual([]);
  });

  it('hold __proto__ when it is repeated', () => {
    expect(duplicates('{"__proto__":1,"__proto__":2}')).toEqual([['__proto__']]);
  });

  it('keep the last value, as JSON.parse does', () => {
    expect(read('{"a":1,"a":2}')).toEqual({ a: 2 });
  });

  it('are bounded', () => {
    const text = `{${Array.from({ length: 5000 }, () => '"a":1').join(',')}}`;
    expect(duplicates(text)).toHaveLength(100);
  });

  it('hold one of the outermost object behind any number of others (GATE-08a)', () => {
    const inner = `{${Array.from({ length: 5000 }, () => '"a":1').join(',')}}`;
    const found = duplicates(`{"params":${inner},"method":1,"method":2,"method":3,"params":${inner}}`);
    expect(found).toHaveLength(101);
    expect(found.at(-1)).toEqual(['method']);
  });
});

describe('the members that readStrictJson reports', () => {
  const members = (text: string) => [...readStrictJson(text).members];

  it('are the values of the top object as they were written (WIRE-04c)', () => {
    expect(members(' { "id" : 12345678901234567890 , "x":"\\u0041" ,"y": { "z" : 1 } } ')).toEqual([
      ['id', '12345678901234567890'],
      ['x', '"\\u0041"'],
      ['y', '{ "z" : 1 }'],
    ]);
    expect(members('{"id":1.50}')).toEqual([['id', '1.50']]);
  });

  it('hold the last of a repeated key', () => {
    expect(members('{"id":1,"id":2}')).toEqual([['id', '2']]);
  });

  it('are none when the value is no object', () => {
    expect(members('[{"id":1}]')).toEqual([]);
    expect(members('7')).toEqual([]);
  });

  it('do not reach into nested objects', () => {
    expect(members('{"a":{"b":1}}').map(([key]) => key)).toEqual(['a']);
  });
});

describe('keys that name prototypes', () => {
  it('are plain data and pollute nothing (GATE-10b, S-17)', () => {
    const value = read('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect((value as { polluted?: boolean }).polluted).toBeUndefined();
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
  });
});

it('reads a body of long strings at more than 30 MB/s', () => {
  const text = JSON.stringify({ a: 'x'.repeat(500_000), b: 'é"\n'.repeat(150_000) });
  readStrictJson(text);
  const fastest = Math.min(...Array.from({ length: 5 }, () => milliseconds(() => readStrictJson(text))));
  expect(text.length / 1e6 / (fastest / 1e3)).toBeGreaterThan(30);
});

it('stays linear on texts made to be slow', () => {
  const hostile = [`"${'\\"'.repeat(500_000)}`, `[${'\\'.repeat(1e6)}"`, `0.${'1'.repeat(1e6)}`, `[${' '.repeat(1e6)}`];
  for (const text of hostile) expect(milliseconds(() => outcome(() => readStrictJson(text)))).toBeLessThan(1000);
});

it('lets go of the body: an id that is kept does not keep the text around it', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const kept: unknown[] = [];
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let n = 0; n < 30; n += 1) {
    const id = `"${crypto.randomUUID()}"`;
    const { value, members } = readStrictJson(`{"id":${id},"junk":"${String(n % 10).repeat(1_000_000)}"}`);
    kept.push((value as { id: string }).id, members.get('id'));
  }
  collectGarbage();
  expect(kept).toHaveLength(60);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
});

/** A reviver with the one rule that a mutation can break and JSON.parse does not have. */
function finite(_key: string, value: unknown): unknown {
  if (value === Infinity || value === -Infinity) throw new RangeError();
  return value;
}

function outcome(action: () => unknown): unknown {
  try {
    return { value: action() };
  } catch {
    return 'refused';
  }
}

function outcomeError(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was thrown');
}

function milliseconds(action: () => void): number {
  const start = performance.now();
  action();
  return performance.now() - start;
}
