import type { MessageName } from '../message-types.js';

/** The enums of the protocol. */
export type EnumName = 'Role' | 'TaskState';

/**
 * A rule that a string obeys beyond being one.
 *
 * - `id`: at most 256 characters, well-formed Unicode, no C0 control characters, so that every store can hold it.
 * - `header`: fit for an HTTP header, so that it can neither break one nor be left unsent.
 */
export type StringRule = 'id' | 'header';

/** The type of one value of a field. */
export type FieldType =
  | { readonly kind: 'string'; readonly rule?: StringRule }
  | { readonly kind: 'bool' }
  | { readonly kind: 'int32'; readonly min: number }
  | { readonly kind: 'bytes' }
  | { readonly kind: 'enum'; readonly of: EnumName }
  | { readonly kind: 'message'; readonly of: MessageName }
  | { readonly kind: 'struct' }
  | { readonly kind: 'value' }
  | { readonly kind: 'timestamp' };

/** One field of a message, as the proto has it, with our rules beside. */
export interface Field {
  readonly type: FieldType;
  readonly label: 'singular' | 'optional' | 'repeated' | 'map';
  /** The oneof that the field is a member of. */
  readonly oneof?: string;
  /** The proto's `field_behavior` is REQUIRED. */
  readonly required?: true;
  /** The server mints it when a client leaves it out, though it is required. */
  readonly minted?: true;
  /** A list that agents may leave empty, though it is required: an empty result is a result. */
  readonly mayBeEmpty?: true;
  /** Written even when it has its default value, though it is not required. */
  readonly always?: true;
}

const singular = (type: FieldType): Field => ({ type, label: 'singular' });

export const string = singular({ kind: 'string' });
export const id = singular({ kind: 'string', rule: 'id' });
export const header = singular({ kind: 'string', rule: 'header' });
export const bool = singular({ kind: 'bool' });
export const bytes = singular({ kind: 'bytes' });
export const struct = singular({ kind: 'struct' });
export const value = singular({ kind: 'value' });
export const timestamp = singular({ kind: 'timestamp' });

/** @param min The least value that is accepted. */
export const int32 = (min: number): Field => singular({ kind: 'int32', min });
export const enumeration = (of: EnumName): Field => singular({ kind: 'enum', of });
export const message = (of: MessageName): Field => singular({ kind: 'message', of });

export const optional = (field: Field): Field => ({ ...field, label: 'optional' });
export const repeated = (field: Field): Field => ({ ...field, label: 'repeated' });
/** A map from strings to values of the field's type. */
export const mapOf = (field: Field): Field => ({ ...field, label: 'map' });
export const oneof = (name: string, field: Field): Field => ({ ...field, oneof: name });
export const required = (field: Field): Field => ({ ...field, required: true });
export const minted = (field: Field): Field => ({ ...field, required: true, minted: true });
export const mayBeEmpty = (field: Field): Field => ({ ...field, mayBeEmpty: true });
export const always = (field: Field): Field => ({ ...field, always: true });
