import { describe, expect, it } from '@jest/globals';
import type { JsonValue, Part } from '#protocol';
import { skillInput, skillText } from './skill-input.js';

describe('The structured input of a message', () => {
  it.each([
    ['nothing without a data part', [{ text: '{"a":1}' }], {}],
    ['the data part', [{ data: { a: 1, b: [2] } }], { a: 1, b: [2] }],
    ['the data part without `skill`', [{ data: { skill: 's', a: 1 } }], { a: 1 }],
    ['`arguments` when it has that key', [{ data: { skill: 's', arguments: { a: 1 }, other: 2 } }], { a: 1 }],
    ['`arguments` without a skill', [{ data: { arguments: { a: 1 } } }], { a: 1 }],
    ['the data part that names a skill, before others', [{ data: { a: 1 } }, { data: { skill: 's', b: 2 } }], { b: 2 }],
    [
      'the first object, when none names a skill',
      [{ data: [1] }, { data: 'x' }, { data: { a: 1 } }, { data: { b: 2 } }],
      { a: 1 },
    ],
    ['nothing of data parts that are no objects', [{ data: [1] }, { data: null }], {}],
    ...[null, false, 0, '', [1], 'text'].map((value) => [
      `${JSON.stringify(value)} as arguments`,
      [{ data: { arguments: value } }],
      value,
    ]),
  ] as [string, Part[], JsonValue][])('is %s', (_name, parts, expected) => {
    expect(skillInput({ parts })).toEqual(expected);
  });

  it('is plain data, whatever its keys are called (S-17, GATE-10b)', () => {
    const data = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as JsonValue;
    const input = skillInput({ parts: [{ data }] });
    expect(JSON.stringify(input)).toBe(JSON.stringify(data));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('The text of a message', () => {
  it.each([
    [[{ text: 'a' }], 'a'],
    [[{ text: 'a' }, { data: 'x' }, { text: '' }, { url: 'u' }, { text: 'b' }], 'a\n\nb'],
    [[{ data: 1 }], ''],
  ] as [Part[], string][])('of %j is %j', (parts, expected) => {
    expect(skillText({ parts })).toBe(expected);
  });
});
