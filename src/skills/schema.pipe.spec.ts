import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { isStandardSchema, SchemaPipe, type StandardSchema } from './schema.pipe.js';

describe('The schema pipe', () => {
  it('gives what the schema makes of the value', async () => {
    const pipe = new SchemaPipe(z.object({ year: z.coerce.number() }));
    expect(await pipe.transform({ year: '2026', other: 1 })).toEqual({ year: 2026 });
  });

  it('names the fields that the schema refuses, nested ones by their path', async () => {
    const pipe = new SchemaPipe(z.object({ a: z.string(), lines: z.array(z.object({ price: z.number() })) }));
    await expect(pipe.transform({ a: 1, lines: [{ price: 1 }, { price: 'x' }] })).rejects.toMatchObject({
      name: 'SkillInputError',
      violations: [
        { field: 'a', description: expect.any(String) as unknown },
        { field: 'lines.1.price', description: expect.any(String) as unknown },
      ],
    });
  });

  it('waits for a schema that validates asynchronously, and reads every form of path', async () => {
    const schema: StandardSchema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: async () => ({
          issues: [{ message: 'is odd', path: ['a', { key: 0 }, { key: 'b' }] }, { message: 'is wrong' }],
        }),
      },
    };
    await expect(new SchemaPipe(schema).transform({})).rejects.toThrow('Invalid input: a.0.b: is odd; is wrong');
  });

  it.each([
    [z.string(), true],
    [Object.assign(() => 1, { '~standard': { validate: () => ({ value: 1 }) } }), true],
    [{}, false],
    [{ '~standard': {} }, false],
    [null, false],
    [undefined, false],
    ['schema', false],
    [Date, false],
  ])('knows a Standard Schema when it sees one (%#)', (value, expected) => {
    expect(isStandardSchema(value)).toBe(expected);
  });
});
