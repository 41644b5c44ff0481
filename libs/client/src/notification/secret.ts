import { createHash, timingSafeEqual } from 'node:crypto';

/** Tells whether two secrets are the same, in a time that says nothing about either; lengths may differ. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digestOf(one), digestOf(other));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
