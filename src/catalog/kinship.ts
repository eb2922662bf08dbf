import { decodeText, parseRecord } from "../jsonl/decode.ts";
import { readFront } from "./deleted-imports.ts";
import { FRONT_ENTRIES, saysSubagent } from "./session-calls.ts";
import type { SessionRow } from "./session-row.ts";

/**
 * Tells what a session is to the one that its header names: its fork, or that of a subagent; empty if it names none.
 *
 * @remarks Cost: the beginning of its file is read if the header names one.
 */
export function kinshipOf({
  parentSession,
  path,
}: Pick<SessionRow, "parentSession" | "path">): "" | "fork" | "subagent" {
  if (parentSession === undefined) return "";
  const front = path === undefined ? undefined : readFront(path);
  const lines = front === undefined ? [] : decodeText(front).split("\n", 1 + FRONT_ENTRIES);
  const isSubagent = lines.some((line) => saysSubagent(parseRecord(line) ?? {}));
  return isSubagent ? "subagent" : "fork";
}

/** Returns that in brackets before what a line says of the session; empty if there is nothing to say. */
export function kinshipMark(session: Parameters<typeof kinshipOf>[0]): string {
  const kinship = kinshipOf(session);
  return kinship === "" ? "" : `(${kinship}) `;
}
