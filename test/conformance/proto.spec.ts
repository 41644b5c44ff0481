import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { A2A_METHODS, OPERATIONS } from '../../libs/protocol/src/operations.js';
import { ENUMS, SCHEMA } from '../../libs/protocol/src/schema.js';
import type { Field } from '../../libs/protocol/src/schema/field.js';
import { shapeOf } from '../../libs/protocol/src/schema/shape.js';
import type { MessageName } from '../../libs/protocol/src/message-types.js';

/** What the proto says that this package depends on. */
interface ProtoFacts {
  messages: Record<string, Record<string, FieldFacts>>;
  enums: Record<string, string[]>;
  rpcs: Record<string, { request: string; response: string; stream: boolean }>;
}

interface FieldFacts {
  type: string;
  label: Field['label'];
  required: boolean;
  oneof?: string;
}

const FACTS_FILE = new URL('proto-facts.json', import.meta.url);
const PROTO_FILE = [process.env['A2A_PROTO'], new URL('../../../shared/spec/a2a.proto', import.meta.url)]
  .filter((file) => file !== undefined)
  .find(existsSync);

const committed = existsSync(FACTS_FILE) ? (JSON.parse(readFileSync(FACTS_FILE, 'utf8')) as ProtoFacts) : undefined;
const parsed = PROTO_FILE === undefined ? undefined : parseProto(readFileSync(PROTO_FILE, 'utf8'));
if (parsed !== undefined && process.env['A2A_PROTO_FACTS'] === 'write') {
  writeFileSync(FACTS_FILE, `${JSON.stringify(parsed, null, 2)}\n`);
}
const facts = parsed ?? committed;
if (facts === undefined) throw new Error('There is neither a proto nor proto-facts.json');

(parsed === undefined ? describe.skip : describe)('proto-facts.json', () => {
  it('says what the proto says (else run with A2A_PROTO_FACTS=write, then format)', () => {
    expect(committed).toEqual(parsed);
  });
});

describe('the schema', () => {
  it('has the messages of the proto, all of them and no others', () => {
    expect(Object.keys(SCHEMA).sort()).toEqual(Object.keys(facts.messages).sort());
  });

  it.each(Object.keys(facts.messages))('has %s as the proto has it', (name) => {
    expect(factsOfSchema(name as MessageName)).toEqual(facts.messages[name]);
    expect(shapeOf(name as MessageName).fields.map((field) => field.protoName)).toEqual(
      Object.keys(facts.messages[name]!),
    );
  });

  it('names each field in JSON as ProtoJSON does (§5.5)', () => {
    for (const name of Object.keys(facts.messages)) {
      for (const field of shapeOf(name as MessageName).fields) expect(field.name).toBe(toJsonName(field.protoName));
    }
  });

  it('has no message with two oneofs, which the codec counts on', () => {
    for (const fields of Object.values(facts.messages)) {
      const groups = new Set(Object.values(fields).flatMap((field) => field.oneof ?? []));
      expect(groups.size).toBeLessThanOrEqual(1);
    }
  });

  it('has the enums of the proto, value by value (DM-01a, DM-02a)', () => {
    expect(ENUMS).toEqual(facts.enums);
  });
});

describe('the operations', () => {
  it('are the rpcs of the service, with their requests and responses (WIRE-01, WIRE-10)', () => {
    expect([...A2A_METHODS].sort()).toEqual(Object.keys(facts.rpcs).sort());
    const table = A2A_METHODS.map((method) => {
      const { request, response, streaming } = OPERATIONS[method];
      return [method, { request, response, stream: streaming }] as const;
    });
    expect(Object.fromEntries(table)).toEqual(facts.rpcs);
  });
});

function factsOfSchema(name: MessageName): Record<string, FieldFacts> {
  const rows = shapeOf(name).fields.map((field) => {
    const { label, oneof } = field;
    const row: FieldFacts = { type: protoType(field), label, required: field.required === true };
    return [field.protoName, oneof === undefined ? row : { ...row, oneof }] as const;
  });
  return Object.fromEntries(rows);
}

function protoType({ type }: Field): string {
  switch (type.kind) {
    case 'message':
    case 'enum':
      return type.of;
    case 'struct':
      return 'google.protobuf.Struct';
    case 'value':
      return 'google.protobuf.Value';
    case 'timestamp':
      return 'google.protobuf.Timestamp';
    default:
      return type.kind;
  }
}

/** The algorithm of protoc, written anew: each underscore goes, and the letter behind it becomes a capital. */
function toJsonName(protoName: string): string {
  return protoName.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Reads as much of the proto language as the file uses. Keys of maps are always strings there. */
function parseProto(source: string): ProtoFacts {
  const facts: ProtoFacts = { messages: {}, enums: {}, rpcs: {} };
  const plain = source.replaceAll(/\/\/.*$/gm, '').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  for (const [keyword, name, body] of blocks(plain)) {
    if (keyword === 'message') facts.messages[name] = parseFields(body);
    else if (keyword === 'enum') facts.enums[name] = [...body.matchAll(/(\w+)\s*=\s*\d+/g)].map((match) => match[1]!);
    else if (keyword === 'service') facts.rpcs = parseRpcs(body);
  }
  return facts;
}

function parseFields(body: string): Record<string, FieldFacts> {
  const fields: Record<string, FieldFacts> = {};
  let rest = body;
  for (const [, oneof, members] of blocks(body)) {
    for (const [name, field] of Object.entries(parseFields(members))) fields[name] = { ...field, oneof };
    rest = rest.replace(members, '');
  }
  const field =
    /(?:(repeated|optional)\s+)?(map\s*<\s*string\s*,\s*([\w.]+)\s*>|[\w.]+)\s+(\w+)\s*=\s*\d+\s*(\[[^\]]*\])?\s*;/g;
  for (const [, label, type, mapped, name, options] of rest.matchAll(field)) {
    fields[name!] = {
      type: mapped ?? type!,
      label: mapped === undefined ? ((label ?? 'singular') as FieldFacts['label']) : 'map',
      required: /field_behavior\)\s*=\s*REQUIRED/.test(options ?? ''),
    };
  }
  return fields;
}

function parseRpcs(body: string): ProtoFacts['rpcs'] {
  const rpc = /rpc\s+(\w+)\s*\(\s*([\w.]+)\s*\)\s*returns\s*\(\s*(stream\s+)?([\w.]+)\s*\)/g;
  const rows = [...body.matchAll(rpc)].map(([, name, request, stream, response]) => {
    return [name!, { request: request!, response: response!, stream: stream !== undefined }] as const;
  });
  return Object.fromEntries(rows);
}

/** The `keyword Name { … }` blocks of a text, outermost only. */
function blocks(text: string): [keyword: string, name: string, body: string][] {
  const found: [string, string, string][] = [];
  const opening = /(message|enum|service|oneof)\s+(\w+)\s*\{/g;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const start = opening.lastIndex;
    let depth = 1;
    let end = start;
    for (; depth > 0; end += 1) depth += text[end] === '{' ? 1 : text[end] === '}' ? -1 : 0;
    found.push([match[1]!, match[2]!, text.slice(start, end - 1)]);
    opening.lastIndex = end;
  }
  return found;
}
