import { join } from "node:path";
import { type CallOrigin, Recall, type RecallSettings } from "../../../../src/apps/recall/recall.ts";
import { callRecallTool, RECALL_TOOLS } from "../../../../src/apps/recall/recall-tools.ts";
import { makeFileSource, type SessionSource } from "../../../../src/apps/recall/session-source.ts";
import type { SessionStore } from "../../../../src/stores/contract/session-store.ts";
import { readFileBytes } from "../../../../src/stores/file/file-store.ts";
import { memoryStore } from "../../../../src/stores/remote/remote-store.ts";
import { NOW_MS, temporaryFolder } from "../../cli/support/cli.ts";
import { Scribe } from "../../cli/support/sessions.ts";

/** Returns the ID of the session with a number. */
export const ID = (number: number) => `0198aaaa-0000-7000-8000-00000000000${number}`;

/** Calls a tool. */
export async function ask(
  recall: Recall,
  name: string,
  values: { readonly [name: string]: unknown } = {},
  origin?: CallOrigin,
) {
  const tool = RECALL_TOOLS.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`There is no tool ${name}.`);
  return callRecallTool(tool, recall, values, origin);
}

/** Creates the `Recall` that tools are called on. */
export function recallOver(source: SessionSource, cwd: string, more: Partial<RecallSettings> = {}): Recall {
  const now = () => NOW_MS;
  return new Recall({
    source,
    cwd,
    project: cwd,
    env: {},
    hide: undefined,
    now,
    prices: undefined,
    ...more,
  });
}

/** A project in which the tests failed, were fixed in vain on an abandoned branch, and then successfully. */
export function project() {
  const folder = temporaryFolder();
  const sessions = join(folder, "sessions");
  const scribe = new Scribe(sessions, ID(1), folder);
  const asked = scribe.user("Why do the totals of receipts fail?");
  scribe.call("bash", { command: "npm test -- totals" }, "c1");
  const failed = scribe.result(
    "not ok 2 - a discount\nRangeError: expected 2997, got 2996.9999\n\nCommand exited with code 1",
    true,
    "c1",
  );
  scribe.call("edit", { path: "src/totals.ts", text: "Math.floor" }, "c2");
  scribe.result("edited", false, "c2");
  scribe.call("bash", { command: "npm test -- totals" }, "c3");
  const failedAgain = scribe.result(
    "RangeError: expected 2997, got 2996\n\nCommand exited with code 1",
    true,
    "c3",
  );
  scribe.session.branch(failed);
  scribe.assistant("The total is rounded too late.");
  scribe.call("edit", { path: "src/totals.ts", text: "Math.round" }, "c4");
  scribe.result("edited", false, "c4");
  scribe.call("bash", { command: "npm test -- all" }, "c5");
  const worked = scribe.result("12 passing", false, "c5");
  const answered = scribe.assistant("Fixed: round each line of the receipt.");
  const recall = recallOver(makeFileSource({ sessionDir: sessions }), folder);
  return { folder, sessions, scribe, recall, asked, failed, failedAgain, worked, answered };
}

/** Copies sessions into a store in memory. */
export async function copyToStore(...paths: readonly string[]): Promise<SessionStore> {
  const store = memoryStore();
  for (const path of paths) await store.importBytes(readFileBytes(path));
  return store;
}
