import { fieldsOf, numberOf } from "../../context/entry-fields.ts";
import type { AnySessionEntry } from "../../core.ts";
import { count, dollars } from "../../view/words.ts";
import { costOf } from "./usage.ts";

/** What an answer of a model used, in words; each is empty if the entry does not say. */
export interface AnswerUsage {
  /** `$0.0123` */
  readonly cost: string;
  /** `9,800 in (9,000 from the cache), 268 out` */
  readonly tokens: string;
}

/** Writes what an answer used. */
export function answerUsage(entry: AnySessionEntry | undefined): AnswerUsage {
  const usage = fieldsOf(fieldsOf(fieldsOf(entry)["message"])["usage"]);
  const sum = (...names: string[]) => names.reduce((all, name) => all + numberOf(usage[name]), 0);
  const input = sum("input", "cacheRead", "cacheWrite");
  const [cached, output] = [sum("cacheRead"), sum("output")];
  const fromCache = cached > 0 ? ` (${count(cached)} from the cache)` : "";
  const cost = costOf(fieldsOf(usage["cost"]));
  return {
    cost: cost > 0 ? dollars(cost) : "",
    tokens: input + output > 0 ? `${count(input)} in${fromCache}, ${count(output)} out` : "",
  };
}
