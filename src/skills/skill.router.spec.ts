import { describe, expect, it } from '@jest/globals';
import type { JsonValue, Message, Part } from '#protocol';
import { describeSkill } from './registered-skill.js';
import { NamedSkillRouter } from './skill.router.js';

const router = new NamedSkillRouter();
const three = ['one', 'two', 'three'].map((id) => describeSkill(id, {}));

describe('Routing by name', () => {
  it.each([
    ['metadata.skill', { skill: 'two' }, [{ text: 'one' }], 'two'],
    ['metadata.skill before a data part', { skill: 'two' }, [{ data: { skill: 'three' } }], 'two'],
    ['the skill of a data part', undefined, [{ text: 'x' }, { data: { skill: 'three' } }], 'three'],
    [
      'the first data part that has one',
      undefined,
      [{ data: { a: 1 } }, { data: { skill: 'one' } }, { data: { skill: 'two' } }],
      'one',
    ],
    ['nothing for other metadata', { other: 'two' }, [{ text: 'x' }], undefined],
  ] as [string, Message['metadata'], Part[], string | undefined][])(
    'takes %s (ROUTE-01)',
    (_name, metadata, parts, expected) => {
      expect(route(parts, metadata)).toBe(expected);
    },
  );

  it('takes the only skill when the message names none (ROUTE-01)', () => {
    expect(router.route({ message: messageOf([{ text: 'x' }]), skills: three.slice(0, 1) })).toBe('one');
  });

  it('names a skill that is not registered rather than falling through (ROUTE-02a)', () => {
    expect(route([{ data: { skill: 'two' } }], { skill: 'unknown' })).toBe('unknown');
    expect(route([{ data: { skill: 'unknown' } }, { data: { skill: 'two' } }])).toBe('unknown');
    const message = messageOf([{ data: { skill: 'unknown' } }]);
    expect(router.route({ message, skills: three.slice(0, 1) })).toBe('unknown');
  });

  it.each(['', null, 5, true, ['two'], { id: 'two' }] as JsonValue[])(
    'passes over metadata.skill = %j (ROUTE-02b)',
    (skill) => {
      expect(route([{ data: { skill: 'three' } }], { skill })).toBe('three');
    },
  );

  it.each(['', null, 5, ['two']] as JsonValue[])('passes over a data part with skill = %j', (skill) => {
    expect(route([{ data: { skill } }, { data: { skill: 'three' } }])).toBe('three');
  });

  it.each([null, 'two', 5, ['two'], [{ skill: 'two' }]] as JsonValue[])(
    'looks for the skill in objects and not in %j (ROUTE-01)',
    (data) => {
      expect(route([{ data }])).toBeUndefined();
    },
  );

  it('never reads prose (ROUTE-03a)', () => {
    expect(
      route([{ text: 'two' }, { text: '{"skill":"two"}' }, { url: 'https://x/two' }, { raw: 'dHdv' }]),
    ).toBeUndefined();
  });

  it('takes no inherited key for a name (S-17)', () => {
    const inherited = Object.create({ skill: 'two' }) as Record<string, JsonValue>;
    expect(route([{ data: inherited }])).toBeUndefined();
  });
});

function route(parts: Part[], metadata?: Message['metadata']): string | undefined {
  return router.route({ message: messageOf(parts, metadata), skills: three });
}

function messageOf(parts: Part[], metadata?: Message['metadata']): Message {
  return { messageId: 'm', role: 'ROLE_USER', parts, ...(metadata && { metadata }) };
}
