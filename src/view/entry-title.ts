import { excerptOf } from "./excerpt.ts";
import { beginningOf } from "./plain.ts";
import { tellingArgument } from "./telling-argument.ts";
import { callOf } from "./tool-calls.ts";
import type { ViewSource } from "./view-source.ts";

/** Returns the line by which an entry is known among others: of a result, what was asked for; else what it says. */
export function titleOfEntry(session: Pick<ViewSource, "entryAt" | "tree">, ordinal: number): string {
  const asked = beginningOf(tellingArgument(callOf(session, ordinal)?.input));
  return asked === "" ? excerptOf(session.entryAt(ordinal)).text : asked;
}
