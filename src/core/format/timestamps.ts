/** Maximum absolute time value of a `Date`, in milliseconds. */
const MAX_TIME_MS = 8.64e15;

/** Returns whether a value is a time that a `Date` can represent, in Unix milliseconds. */
export function isTime(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= MAX_TIME_MS;
}

/** Returns a valid time in integer Unix milliseconds; undefined for any other value. */
export function toWholeTime(value: unknown): number | undefined {
  return isTime(value) ? Math.trunc(value) : undefined;
}

/** Parses the `timestamp` of an entry: ISO 8601, or a number, as some writers store it. */
export function getRecordTime({ timestamp }: { readonly timestamp?: unknown }): number | undefined {
  return toWholeTime(typeof timestamp === "string" ? Date.parse(timestamp) : timestamp);
}

/** Formats a time as ISO 8601. Returns the epoch for an invalid time, because hosts may format the result. */
export function toIsoText(ms: number): string {
  return new Date(isTime(ms) ? ms : 0).toISOString();
}
