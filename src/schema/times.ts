/** The furthest from 1970 that a `Date` can be, in milliseconds. */
const MAX_TIME_MS = 8.64e15;

/** Tells whether a value is Unix milliseconds that a calendar knows. */
export function isTime(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= MAX_TIME_MS;
}

/** Returns a time as ISO 8601: that of the epoch where there is none, since a host may format what it gets. */
export function isoTime(ms: number): string {
  return new Date(isTime(ms) ? ms : 0).toISOString();
}
