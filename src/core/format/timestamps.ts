/** The furthest from 1970 that a `Date` can be, in milliseconds. */
const MAX_TIME_MS = 8.64e15;

/** Tells whether a value is a time that a `Date` can hold, in Unix milliseconds. */
export function isTime(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= MAX_TIME_MS;
}

/** Returns a valid time in whole Unix milliseconds; undefined for anything else. */
export function toWholeTime(value: unknown): number | undefined {
  return isTime(value) ? Math.trunc(value) : undefined;
}

/** Reads the `timestamp` of an entry: ISO 8601, or a number, as some writers have it. */
export function getRecordTime({ timestamp }: { readonly timestamp?: unknown }): number | undefined {
  return toWholeTime(typeof timestamp === "string" ? Date.parse(timestamp) : timestamp);
}

/** Returns a time as ISO 8601; the epoch for an invalid one, since hosts may format what they get. */
export function toIsoText(ms: number): string {
  return new Date(isTime(ms) ? ms : 0).toISOString();
}
