/** Number of characters in `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
export const ISO_LENGTH = 24;

const DASH = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const TEE = 0x54;
const ZED = 0x5a;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Number of days from January 1 of year 1 to January 1, 1970. */
const DAYS_TO_EPOCH = 719_162;

/** By month number, in a common year. */
const DAYS_IN_MONTH = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAYS_BEFORE_MONTH = [0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/** Value of two digits, indexed by the characters as a little-endian number; -1 if they are not digits. */
const DECIMAL_PAIRS = makeDecimalPairs();

function makeDecimalPairs(): Int16Array {
  const pairs = new Int16Array(0x10000).fill(-1);
  for (let value = 0; value < 100; value++) {
    const high = ZERO + Math.floor(value / 10);
    const low = ZERO + (value % 10);
    pairs[high | (low << 8)] = value;
  }
  return pairs;
}

/**
 * Parses timestamps from bytes. Every entry has a time, and `Date.parse` takes longer than reading the rest of a head.
 *
 * Caches the last minute by its four words, because many entries fall in the same minute as the previous one.
 */
export class IsoMillisReader {
  #year = 0;
  #monthAndDay = 0;
  #dayAndHour = 0;
  #minute = 0;
  #minuteMs = Number.NaN;

  /**
   * Returns the Unix milliseconds of a time in the form `YYYY-MM-DDTHH:MM:SS.mmmZ`; NaN for any other form, for invalid times,
   * and for years up to 99, which require `Date.parse`.
   *
   * @param view - Must contain 24 bytes starting at `start`.
   */
  read(view: DataView, start: number): number {
    const second = parsePair(view, start + 17);
    const hundreds = view.getUint8(start + 20) - ZERO;
    const millis = parsePair(view, start + 21);
    const isSpelledSo =
      view.getUint8(start + 16) === COLON &&
      view.getUint8(start + 19) === POINT &&
      view.getUint8(start + 23) === ZED &&
      // A negative number means that a pair was not digits.
      (second | hundreds | millis) >= 0 &&
      second < 60 &&
      hundreds < 10;
    return isSpelledSo
      ? this.#startOfMinute(view, start) + second * 1000 + hundreds * 100 + millis
      : Number.NaN;
  }

  #startOfMinute(view: DataView, start: number): number {
    const year = view.getInt32(start, true);
    const monthAndDay = view.getInt32(start + 4, true);
    const dayAndHour = view.getInt32(start + 8, true);
    const minute = view.getInt32(start + 12, true);
    const isSame =
      minute === this.#minute &&
      dayAndHour === this.#dayAndHour &&
      monthAndDay === this.#monthAndDay &&
      year === this.#year;
    if (isSame) return this.#minuteMs;
    this.#year = year;
    this.#monthAndDay = monthAndDay;
    this.#dayAndHour = dayAndHour;
    this.#minute = minute;
    this.#minuteMs = parseDayNumber(view, start) * DAY_MS + parseMinutes(view, start) * MINUTE_MS;
    return this.#minuteMs;
  }
}

/** Returns the minute of the day from the `THH:MM` part after a date, or NaN. */
function parseMinutes(view: DataView, start: number): number {
  const hour = parsePair(view, start + 11);
  const minute = parsePair(view, start + 14);
  const isSpelledSo = view.getUint8(start + 10) === TEE && view.getUint8(start + 13) === COLON;
  const isInRange = (hour | minute) >= 0 && hour < 24 && minute < 60;
  return isSpelledSo && isInRange ? hour * 60 + minute : Number.NaN;
}

/** Returns the number of days from the epoch to a date in the form `YYYY-MM-DD`, or NaN. */
function parseDayNumber(view: DataView, start: number): number {
  const century = parsePair(view, start);
  const yearInCentury = parsePair(view, start + 2);
  const month = parsePair(view, start + 5);
  const day = parsePair(view, start + 8);
  const year = century * 100 + yearInCentury;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const lastDay = (DAYS_IN_MONTH[month] ?? 0) + (isLeap && month === 2 ? 1 : 0);
  const isSpelledSo = view.getUint8(start + 4) === DASH && view.getUint8(start + 7) === DASH;
  const isOrdinary = century > 0 && yearInCentury >= 0 && day > 0 && day <= lastDay;
  if (!isSpelledSo || !isOrdinary) return Number.NaN;
  const past = year - 1;
  const leapDays = ((past / 4) | 0) - ((past / 100) | 0) + ((past / 400) | 0) + (isLeap && month > 2 ? 1 : 0);
  return past * 365 + leapDays - DAYS_TO_EPOCH + (DAYS_BEFORE_MONTH[month] ?? 0) + day - 1;
}

/** Returns the value of two digits, or -1. */
function parsePair(view: DataView, at: number): number {
  return DECIMAL_PAIRS[view.getUint16(at, true)] ?? -1;
}
