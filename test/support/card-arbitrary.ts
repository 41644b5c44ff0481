import fc from 'fast-check';
import { SCHEMA, type AgentCard, type Field, type JsonObject, type MessageName } from '#protocol';

/**
 * Makes cards of every shape that the schema allows, as others might write them: fields left out, flags set to false, texts
 * in all scripts.
 *
 * @param empty Whether texts, lists, maps and messages may be there and empty.
 */
export function cardArbitrary({ empty }: { readonly empty: boolean }): fc.Arbitrary<AgentCard & JsonObject> {
  const min = empty ? 0 : 1;
  const text = fc.string({ unit: 'grapheme', minLength: min, maxLength: 6 });
  const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }).filter((name) => name !== '__proto__');
  const free = empty ? fc.jsonValue({ maxDepth: 2 }) : fc.oneof(text, fc.boolean(), fc.integer(), fc.double(FINITE));
  return message('AgentCard').map((card) => {
    delete card['signatures'];
    return card as AgentCard & JsonObject;
  });

  function message(name: MessageName): fc.Arbitrary<JsonObject> {
    const fields = Object.entries<Field>(SCHEMA[name]);
    const plain = fields.filter(([, { oneof }]) => oneof === undefined);
    const choices = fields.filter(([, { oneof }]) => oneof !== undefined);
    const required = plain.filter((entry) => entry[1].required).map(([camel]) => camel);
    // A message without required fields would be empty at times.
    const requiredKeys = empty || required.length > 0 ? required : plain.map(([camel]) => camel);
    const rest: fc.Arbitrary<object> = fc.record(
      Object.fromEntries(plain.map(([camel, field]) => [camel, valueOf(field)])),
      { requiredKeys },
    );
    if (choices.length === 0) return rest as fc.Arbitrary<JsonObject>;
    const choice = fc.oneof(...choices.map(([camel, field]) => valueOf(field).map((value) => ({ [camel]: value }))));
    return fc.tuple(rest, choice).map(([one, other]) => ({ ...one, ...other }) as JsonObject);
  }

  function valueOf(field: Field): fc.Arbitrary<unknown> {
    const one = oneOf(field);
    if (field.label === 'repeated') return fc.array(one, { minLength: min, maxLength: 2 });
    if (field.label === 'map') return fc.dictionary(key, one, { minKeys: min, maxKeys: 2 });
    return one;
  }

  function oneOf({ type }: Field): fc.Arbitrary<unknown> {
    if (type.kind === 'message') return message(type.of);
    if (type.kind === 'bool') return fc.boolean();
    return type.kind === 'struct' ? fc.dictionary(key, free, { minKeys: min, maxKeys: 3 }) : text;
  }
}

const FINITE = { noNaN: true, noDefaultInfinity: true };
