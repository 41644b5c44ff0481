import { beforeEach, describe, expect, it } from '@jest/globals';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { describeSkill } from './registered-skill.js';
import type { SkillOptions } from './skill.decorator.js';
import { SkillRegistry } from './skill.registry.js';

describe('The skill registry', () => {
  let registry: SkillRegistry;

  beforeEach(() => {
    registry = new SkillRegistry();
  });

  function add(id: string, origin = `Skills.${id}`, options: SkillOptions = {}): void {
    registry.add({ description: describeSkill(id, options), origin, invoke: async () => undefined });
  }

  it('lists skills in the order of their registration (PKG-04a)', () => {
    for (const id of ['b', 'a', '10', '2']) add(id);
    expect(registry.descriptions().map(({ id }) => id)).toEqual(['b', 'a', '10', '2']);
    expect(registry.get('a')?.origin).toBe('Skills.a');
    expect(registry.get('c')).toBeUndefined();
    expect(registry.get('constructor')).toBeUndefined();
  });

  it.each(['', ' ', '\t', 'x'.repeat(257), undefined, 5])(
    'refuses the id %p, naming the method and the cure (PKG-04c)',
    (id) => {
      const adding = () => {
        add(id as string, 'Summaries.summarize');
      };
      expect(adding).toThrow(A2AConfigurationError);
      expect(adding).toThrow("Summaries.summarize: a skill's id has 1 to 256 characters. Give this one such an id.");
    },
  );

  it('takes an id of 256 characters', () => {
    add('x'.repeat(256));
    expect(registry.descriptions()).toHaveLength(1);
  });

  it('refuses an id that is taken, naming both methods and the cure (PKG-04c)', () => {
    add('summarize', 'Summaries.summarize');
    const adding = () => {
      add('summarize', 'Notes.summarize');
    };
    expect(adding).toThrow(A2AConfigurationError);
    expect(adding).toThrow(
      'Two skills are called "summarize": Summaries.summarize and Notes.summarize. Give one of them another id.',
    );
    expect(registry.get('summarize')?.origin).toBe('Summaries.summarize');
  });

  it('hands out what cannot be changed (PKG-07a)', () => {
    const tags = ['a'];
    add('x', 'Skills.x', { tags });
    tags.push('b');
    const [description] = registry.descriptions();
    expect(description?.tags).toEqual(['a']);
    expect(() => (description?.tags as string[]).push('c')).toThrow(TypeError);
    expect(() => ((description as { id: string }).id = 'y')).toThrow(TypeError);
  });
});

describe('The description of a skill', () => {
  it('falls back from description to name to id (PKG-03b)', () => {
    expect(describeSkill('x', {})).toEqual({
      id: 'x',
      name: 'x',
      description: 'x',
      tags: [],
      examples: [],
      inputModes: [],
      outputModes: [],
      scopes: [],
      answers: 'task',
    });
    expect(describeSkill('x', { name: 'The X' })).toMatchObject({ name: 'The X', description: 'The X' });
  });

  it('has every field that @Skill takes (PKG-03b)', () => {
    const options = {
      name: 'n',
      description: 'd',
      tags: ['t'],
      examples: ['e'],
      inputModes: ['text/plain'],
      outputModes: ['application/json'],
      scopes: ['s'],
      answers: 'message',
    } as const;
    expect(describeSkill('x', options)).toEqual({ id: 'x', ...options });
  });
});
