import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { generateBranchSummary } from "../../../src/core/compaction/branch-summary.ts";
import { planCompaction } from "../../../src/core/compaction/plan.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "../../../src/core/compaction/settings.ts";
import { findLeafPath } from "../../../src/core/context/leaf-path.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import { isJsonRecord, type JsonRecord } from "../../../src/core/format/json.ts";
import { user } from "../../support/messages.ts";
import { compactAndCheck, getConversation, project } from "./accounting.ts";
import { assistant } from "./builders.ts";

const corpus = fileURLToPath(new URL("../../../../shared/corpus", import.meta.url));
const isThere = existsSync(corpus);
const files = isThere
  ? readdirSync(corpus, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"))
  : [];

/** Reads a file with the simplest possible reader; an entry without an id is a child of the previous one. */
function readPath(name: string): AnySessionEntry[] {
  const records = readFileSync(`${corpus}/${name}`, "utf8").split("\n").flatMap(parseRecord);
  const entries: AnySessionEntry[] = [];
  for (const { id = `line-${entries.length}`, parentId = entries.at(-1)?.id ?? null, ...record } of records) {
    if (typeof record["type"] !== "string" || record["type"] === "session") continue;
    if (typeof id !== "string" || (parentId !== null && typeof parentId !== "string")) continue;
    const { type } = record;
    entries.push({ ...record, type, id, parentId, timestamp: String(record["timestamp"]) });
  }
  return findLeafPath(entries);
}

function parseRecord(line: string): JsonRecord[] {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonRecord(value) ? [value] : [];
  } catch {
    return [];
  }
}

describe.skipIf(!isThere)("files of other writers (skipped without ../shared/corpus)", () => {
  it.each(files)("%s: five compactions account for every message and stay valid", (name) => {
    let path = readPath(name);
    let compactions = 0;
    for (const keepRecentTokens of [20_000, 5_000, 1_000, 200, 0]) {
      const compacted = compactAndCheck(path, { ...DEFAULT_COMPACTION_SETTINGS, keepRecentTokens });
      if (compacted !== undefined) compactions++;
      const drafts = [compacted?.draft, message(user("Go on.")), message(assistant("Gone on."))];
      path = drafts.reduce((entries, draft) => (draft ? append(entries, draft) : entries), path);
    }
    expect(compactions).toBeGreaterThan(0);
    expect(getConversation(project(path)).length).toBeGreaterThan(0);
  });

  it.each(files)("%s: a prepared branch summary is a prompt within the window", async (name) => {
    const path = readPath(name);
    let asked = "";
    const { summary } = await generateBranchSummary(path, {
      summarize: async ({ prompt }) => {
        asked = prompt;
        return { text: "Tried." };
      },
    });
    expect(asked.length).toBeLessThan(128_000 * 4);
    expect(summary.startsWith("Tried.")).toBe(asked !== "");
  });

  it("plans the compaction of a long session: cut, split turn, and files", () => {
    const plan = planCompaction(readPath("pi-mono/large-session.jsonl"), DEFAULT_COMPACTION_SETTINGS);
    if (plan.kind === "skip") throw new Error(`Skipped: ${plan.reason}`);
    const { preparation } = plan;
    expect(preparation.wouldShrink).toBe(true);
    expect(preparation.estimatedTokensAfter).toBeLessThan(preparation.tokensBefore);
    expect(preparation.estimatedTokensAfter).toBeGreaterThan(10_000);
    expect(preparation.fileOps.read.size).toBeGreaterThan(10);
    expect(preparation.isSplitTurn).toBe(preparation.turnPrefixMessages.length > 0);
  });
});

function message(said: object) {
  return { type: "message", message: said };
}

function append(entries: readonly AnySessionEntry[], draft: { type: string }): AnySessionEntry[] {
  const parentId = entries.at(-1)?.id ?? null;
  return [
    ...entries,
    { ...draft, id: `appended-${entries.length}`, parentId, timestamp: "2026-01-01T00:00:00.000Z" },
  ];
}
