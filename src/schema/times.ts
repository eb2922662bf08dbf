/** The furthest from 1970 that a `Date` can be, in milliseconds. */
const MAX_TIME_MS = 8.64e15;

/** Tells whether a value is a time that a `Date` can hold, in Unix milliseconds. */
export function isTime(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= MAX_TIME_MS;
}

/** Returns a time as ISO 8601; the epoch for an invalid one, since hosts may format what they get. */
export function isoTime(ms: number): string {
  return new Date(isTime(ms) ? ms : 0).toISOString();
}
