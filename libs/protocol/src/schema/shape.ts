import type { MessageName } from '../message-types.js';
import { SCHEMA } from '../schema.js';
import type { Field } from './field.js';

/** A field with its two spellings. */
export interface NamedField extends Field {
  /** The lowerCamelCase name: what is written. */
  readonly name: string;
  /** The name in the proto, which is read as well. */
  readonly protoName: string;
}

/** A message of the schema, made ready for looking fields up. */
export interface Shape {
  readonly name: MessageName;
  readonly fields: readonly NamedField[];
  /** The members of its oneof, if it has one; no message of the protocol has two. */
  readonly contents: readonly string[];
  /** The fields by either spelling. */
  readonly spelled: ReadonlyMap<string, NamedField>;
  /** The fields by either spelling in lower case, to notice other spellings. */
  readonly folded: ReadonlyMap<string, NamedField>;
}

const shapes: ReadonlyMap<string, Shape> = new Map(
  Object.entries(SCHEMA).map(([name, fields]) => [name, compile(name as MessageName, fields)]),
);

/** Looks a message of the schema up. */
export function shapeOf(name: MessageName): Shape {
  const shape = shapes.get(name);
  if (shape === undefined) throw new TypeError(`There is no message ${name}`);
  return shape;
}

function compile(name: MessageName, source: Readonly<Record<string, Field>>): Shape {
  const fields = Object.entries(source).map(([camel, field]) => ({
    ...field,
    name: camel,
    protoName: camel.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
  }));
  const spellings = fields.flatMap((field) => [field.name, field.protoName].map((text) => [text, field] as const));
  return {
    name,
    fields,
    contents: fields.filter((field) => field.oneof !== undefined).map((field) => field.name),
    spelled: new Map(spellings),
    folded: new Map(spellings.map(([text, field]) => [text.toLowerCase(), field])),
  };
}
