import { BytePattern } from "../../core/jsonl/byte-pattern.ts";
import { decodeText, parseRecord } from "../../core/jsonl/decode.ts";
import { SUBAGENT_CUSTOM_TYPE } from "../../interop/import/imported-session.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import { unlessRefused } from "../../session/files/skipped-files.ts";
import { readFront } from "./deleted-imports.ts";
import { FRONT_ENTRIES, saysSubagent } from "./session-calls.ts";

const MARK = BytePattern.of(SUBAGENT_CUSTOM_TYPE);

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
  return path !== undefined && isOfSubagent(path) ? "subagent" : "fork";
}

function isOfSubagent(path: string): boolean {
  // Its row may come from a cache.
  const front = unlessRefused(() => readFront(path));
  // Nearly all have no mark, and are not decoded.
  if (front === undefined || MARK.find(front, 0, front.length) === -1) return false;
  const lines = decodeText(front).split("\n", 1 + FRONT_ENTRIES);
  return lines.some((line) => saysSubagent(parseRecord(line) ?? {}));
}

/** Returns that in brackets before what a line says of the session; empty if there is nothing to say. */
export function kinshipMark(session: Parameters<typeof kinshipOf>[0]): string {
  const kinship = kinshipOf(session);
  return kinship === "" ? "" : `(${kinship}) `;
}
