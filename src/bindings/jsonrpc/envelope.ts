import {
  decodeUtf8,
  InvalidRequestError,
  JsonParseError,
  JsonSyntaxError,
  readStrictJson,
  type A2AError,
  type JsonPath,
  type JsonValue,
} from '#protocol';
import { HttpRefusal } from '../body/rpc-reply.js';

/** A JSON-RPC request. */
export interface Envelope {
  /** The JSON text of the id, as it was sent. */
  readonly id: string;
  readonly method: string;
  readonly params: JsonValue | undefined;
  /** The keys that the parameters repeat, with their paths inside them. */
  readonly duplicates: readonly JsonPath[];
}

/** A request that is none, and the id to say so with. */
export interface BadEnvelope {
  readonly id: string;
  readonly error: A2AError | HttpRefusal;
}

const KEYS = ['jsonrpc', 'id', 'method', 'params'] as const;

/**
 * Reads the JSON-RPC envelope of a body. Its four keys are taken literally: none repeated, none misspelt, no fifth.
 *
 * @see A2A v1.0 §9.3 Base Request Structure
 */
export function readEnvelope(bytes: Uint8Array): Envelope | BadEnvelope {
  const refuse = (error: BadEnvelope['error'], id = 'null'): BadEnvelope => ({ id, error });
  let text: string;
  try {
    text = decodeUtf8(bytes);
    // Told apart before it is parsed: how well its elements are formed does not matter.
    if (/^[\t\n\r ]*\[/u.test(text)) {
      return refuse(new HttpRefusal(400, new InvalidRequestError('Batches are not supported.')));
    }
    const { value, duplicates, members } = readStrictJson(text);
    if (!isObject(value)) return refuse(new HttpRefusal(400, new InvalidRequestError('A request is an object.')));
    const misspelt = Object.keys(value).some((key) => !(KEYS as readonly string[]).includes(key));
    if (misspelt || duplicates.some((path) => path.length === 1)) return refuse(new JsonParseError());
    return checked(value, members.get('id'), duplicates);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return refuse(new JsonParseError());
    throw error;
  }
}

function checked(
  { jsonrpc, id, method, params }: { [key: string]: JsonValue },
  rawId: string | undefined,
  duplicates: readonly JsonPath[],
): Envelope | BadEnvelope {
  const echo = (typeof id === 'string' || typeof id === 'number') && rawId !== undefined ? rawId : 'null';
  const refuse = (message: string): BadEnvelope => ({ id: echo, error: new InvalidRequestError(message) });
  if (jsonrpc !== '2.0') return refuse('`jsonrpc` must be "2.0".');
  if (echo === 'null') return refuse('`id` must be a string or a number; notifications are not supported.');
  if (typeof method !== 'string' || method === '') return refuse('`method` must be a string.');
  return { id: echo, method, params, duplicates: duplicates.map((path) => path.slice(1)) };
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
