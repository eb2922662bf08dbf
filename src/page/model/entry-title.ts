import { excerptOf } from "../../view/excerpt.ts";
import { beginningOf } from "../../view/plain.ts";
import { tellingArgument } from "../../view/telling-argument.ts";
import type { SessionModel } from "./session-model.ts";
import { callOfResult } from "./tool-calls.ts";

/** Returns the line by which an entry is known in a list: of a result, what was asked for; else what it says. */
export function titleOfEntry(session: Pick<SessionModel, "entries" | "parents">, ordinal: number): string {
  const entry = session.entries[ordinal];
  const asked = beginningOf(tellingArgument(callOfResult(session, ordinal)?.given));
  return asked !== "" || entry === undefined ? asked : excerptOf(entry).text;
}
