import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NotJsonError } from './not-json-error.js';
import { toJson } from './to-json.js';

class Money {
  static currency = 'EUR';
  #secret = 1;
  constructor(readonly amount: number) {}
  get double(): number {
    return this.amount * 2 * this.#secret;
  }
}

describe('toJson', () => {
  it('copies JSON as it is (DM-15)', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.stringify(toJson(value))).toBe(JSON.stringify(value));
      }),
    );
  });

  it('shares nothing with the value', () => {
    const original = { a: [{ b: 1 }] };
    const copy = toJson(original) as typeof original;
    copy.a[0]!.b = 2;
    expect(original.a[0]!.b).toBe(1);
  });

  it('reads a class instance as its own enumerable properties', () => {
    expect(toJson(new Money(5))).toEqual({ amount: 5 });
  });

  it('honours toJSON, as JSON.stringify does', () => {
    const date = new Date(0);
    expect(toJson({ date, url: new URL('https://a.example/') })).toEqual({
      date: '1970-01-01T00:00:00.000Z',
      url: 'https://a.example/',
    });
    expect(toJson({ key: { toJSON: (key: string) => `${key}!` } })).toEqual({ key: 'key!' });
    class Itself {
      a = 1;
      toJSON(): this {
        return this;
      }
    }
    expect(toJson([new Itself()])).toEqual([{ a: 1 }]);
  });

  it('drops properties whose value is undefined', () => {
    expect(toJson({ a: undefined, b: 1 })).toEqual({ b: 1 });
    expect(Object.keys(toJson({ a: undefined }) as object)).toEqual([]);
  });

  it('reads boxed values as plain ones', () => {
    expect(toJson([Object(1), Object('a'), Object(true)])).toEqual([1, 'a', true]);
  });

  it('keeps an object that appears twice: that is no cycle', () => {
    const shared = { a: 1 };
    expect(toJson([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
  });

  it('keeps __proto__ as plain data (S-17)', () => {
    const copy = toJson(JSON.parse('{"__proto__":{"polluted":1}}')) as object;
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":1}}');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  const cycle: Record<string, unknown> = {};
  cycle['self'] = { cycle };

  it.each<[string, unknown]>([
    ['NaN', NaN],
    ['Infinity', Infinity],
    ['-Infinity', -Infinity],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
    ['a cycle', cycle],
    ['a Map', new Map([[1, 2]])],
    ['a Set', new Set([1])],
    ['a WeakMap', new WeakMap()],
    ['a Promise', Promise.resolve(1)],
    ['bytes', new Uint8Array([1])],
    ['a Buffer', Buffer.from('a')],
    ['a DataView', new DataView(new ArrayBuffer(1))],
    ['an ArrayBuffer', new ArrayBuffer(1)],
    ['an invalid Date', new Date(NaN)],
    ['a boxed NaN', Object(NaN)],
    ['what toJSON makes of it', { toJSON: () => NaN }],
    ['undefined in an array', [undefined]],
    ['a hole in an array', new Array(1)],
  ])('refuses %s, at the top and within (CTX-11)', (_, value) => {
    expect(() => toJson(value)).toThrow(NotJsonError);
    expect(() => toJson({ a: [value] })).toThrow(NotJsonError);
  });

  it('refuses undefined at the top', () => {
    expect(() => toJson(undefined)).toThrow(NotJsonError);
  });

  it('refuses nesting that would overflow the stack', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 100_000; depth += 1) value = [value];
    expect(() => toJson(value)).toThrow(NotJsonError);
    let endless = 0;
    const grower = { toJSON: (): unknown => ({ next: { ...grower, n: (endless += 1) } }) };
    expect(() => toJson(grower)).toThrow(NotJsonError);
    expect(endless).toBeLessThan(1000);
  });

  it('names the place (CTX-11)', () => {
    const value = { parts: [{ data: { total: NaN } }] };
    expect(caught(() => toJson(value))).toMatchObject({
      path: 'parts[0].data.total',
      message: 'parts[0].data.total is not JSON: NaN',
    });
    expect(caught(() => toJson(1n, ['parts', 3, 'data'])).path).toBe('parts[3].data');
    expect(caught(() => toJson(1n)).path).toBe('');
  });
});

function caught(action: () => unknown): NotJsonError {
  try {
    action();
  } catch (error) {
    return error as NotJsonError;
  }
  throw new Error('Nothing was thrown');
}
