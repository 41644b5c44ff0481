import type { MessageName, MessageTypes } from './message-types.js';
import { Role, TaskState } from './model.js';
import { CARD_MESSAGES } from './schema/card-messages.js';
import type { EnumName, Field } from './schema/field.js';
import { OPERATION_MESSAGES } from './schema/operation-messages.js';
import { SECURITY_MESSAGES } from './schema/security-messages.js';
import { TASK_MESSAGES } from './schema/task-messages.js';

type KeysOf<T> = T extends unknown ? keyof T : never;

/** The fields of each message, where the compiler sees that they are those of its type, no fewer and no more. */
type Schema = { readonly [N in MessageName]: { readonly [K in KeysOf<MessageTypes[N]>]: Field } };

/**
 * Every message of `a2a.proto`: its fields by their JSON names, in the order of the proto.
 *
 * Decoding and encoding follow this table, and `test/conformance/proto.spec.ts` holds it against the proto.
 *
 * @see A2A v1.0 §5.7 Field Presence and Optionality
 */
export const SCHEMA: Schema = { ...TASK_MESSAGES, ...OPERATION_MESSAGES, ...CARD_MESSAGES, ...SECURITY_MESSAGES };

/** The values of each enum of the protocol; the first is what an unset field reads as. */
export const ENUMS: Readonly<Record<EnumName, readonly string[]>> = {
  TaskState: Object.values(TaskState),
  Role: Object.values(Role),
};
