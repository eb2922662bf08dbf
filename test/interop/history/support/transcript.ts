import { rmSync } from "node:fs";
import {
  call,
  joinLines,
  part,
  result,
  SESSION_ID,
  text,
  user,
} from "../../import/support/claude-records.ts";
import type { Places } from "./places.ts";

/** Path of Claude Code's transcript, below the home folder. */
export const CLAUDE_PATH = `.claude/projects/-code-project/${SESSION_ID}.jsonl`;

/** Content of the transcript's first record. */
export const SECRET = "hunter2";

/** A transcript of two turns. */
export const RECORDS = [
  user("q", null, `the key is ${SECRET}`),
  part("a1", "q", "msg_1", call("t1"), { stop: "tool_use" }),
  result("r1", "a1", "t1", "a tap"),
  part("a2", "r1", "msg_2", text("It is the tap."), { stop: "end_turn" }),
  user("q2", "a2", "go on"),
  part("a3", "q2", "msg_3", text("done"), { stop: "end_turn" }),
];

/** Writes the first records of the transcript and additional ones. */
export function put(places: Places, count = RECORDS.length, more: readonly object[] = []): void {
  places.put(CLAUDE_PATH, joinLines([...RECORDS.slice(0, count), ...more]));
}

/** Removes the cache of imports. */
export function forget({ cacheDir }: Places): void {
  rmSync(cacheDir, { recursive: true, force: true });
}
