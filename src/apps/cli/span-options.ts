import { parseMoment } from "../../core/facts/times.ts";
import type { CommandCall } from "./command.ts";
import type { Parameter } from "./parameters.ts";
import { UsageError } from "./usage-error.ts";

type Moment = Parameter<string | undefined>;

/** Returns the time span of two options; a missing option leaves its end open. */
export function getSpan(
  { get, io }: CommandCall,
  since: Moment,
  until: Moment | undefined,
  isUtc: boolean,
): { readonly since?: Date; readonly until?: Date } {
  const moment = (parameter: Moment | undefined) => {
    const text = parameter && get(parameter);
    const found = text === undefined ? undefined : parseMoment(text, io.now(), isUtc);
    if (parameter === undefined || text === undefined || found !== undefined) return found;
    throw new UsageError(
      `${parameter.form} accepts "today", "yesterday", "week", "month", or "year", a month (2026-11), a day (2026-11-23), a time (2026-11-23T12:00), or an age (7d), not "${text}".`,
    );
  };
  const [first, last] = [moment(since), moment(until)];
  return {
    ...(first && { since: new Date(first.fromMs) }),
    ...(last && { until: new Date(last.toMs) }),
  };
}
