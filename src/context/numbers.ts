/** Timers cannot wait longer, in milliseconds. */
export const MAX_DELAY = 2 ** 31 - 1;

const MAX_COUNT = 2 ** 31 - 1;

/** Zero, negative and absent stand for the default. */
export function positiveOr(value: number | undefined, fallback: number): number {
  return value !== undefined && value > 0 ? value : fallback;
}

/** As {@link positiveOr}, for whole numbers that a database takes. */
export function countOr(value: number | undefined, fallback: number): number {
  return Math.min(Math.ceil(positiveOr(value, fallback)), MAX_COUNT);
}

/** As {@link positiveOr}, for milliseconds that a timer can wait. */
export function durationOr(value: number | undefined, fallback: number): number {
  return Math.min(positiveOr(value, fallback), MAX_DELAY);
}

/** Zero and absent stand for the default, negative lifts the bound. */
export function boundOr(value: number | undefined, fallback: number): number {
  return value !== undefined && value < 0 ? Infinity : positiveOr(value, fallback);
}
