/** The names of days, weeks and months. */
export interface CalendarNames {
  readonly day: string;
  readonly week: string;
  readonly month: string;
}

/** All time zones differ from UTC by a multiple of this. */
const QUARTER_MS = 15 * 60_000;
const DAY_MS = 24 * 3600 * 1000;

/** Names days, weeks and months, of this system or of UTC: each day by one object. */
export class Calendar {
  readonly #isUtc: boolean;
  readonly #byQuarter = new Map<number, CalendarNames>();
  readonly #byDate = new Map<number, CalendarNames>();

  constructor(isUtc: boolean) {
    this.#isUtc = isUtc;
  }

  of(timeMs: number): CalendarNames {
    const quarter = Math.floor(timeMs / QUARTER_MS);
    const known = this.#byQuarter.get(quarter);
    if (known !== undefined) return known;
    const time = new Date(timeMs);
    const dateMs = this.#isUtc
      ? Math.floor(timeMs / DAY_MS) * DAY_MS
      : Date.UTC(time.getFullYear(), time.getMonth(), time.getDate());
    const names = this.#byDate.get(dateMs) ?? namesOf(dateMs);
    this.#byDate.set(dateMs, names);
    this.#byQuarter.set(quarter, names);
    return names;
  }
}

/** @param dateMs - Midnight, as if it were of UTC. */
function namesOf(dateMs: number): CalendarNames {
  const day = new Date(dateMs).toISOString().slice(0, 10);
  // A week belongs to the year of its Thursday.
  const thursday = new Date(dateMs + (3 - ((new Date(dateMs).getUTCDay() + 6) % 7)) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) + 1;
  return { day, week: `${year}-W${String(week).padStart(2, "0")}`, month: day.slice(0, 7) };
}
