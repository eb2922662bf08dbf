import { readFileSync } from "node:fs";
import type { SessionManager } from "sessiontree";

/** Returns the records of a session's file. */
export function records(session: SessionManager): Record<string, unknown>[] {
  const text = readFileSync(session.getSessionFile() ?? "", "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
