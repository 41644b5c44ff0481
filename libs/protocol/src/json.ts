/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. Keys such as `__proto__` are ordinary own properties. */
export interface JsonObject {
  [key: string]: JsonValue;
}
