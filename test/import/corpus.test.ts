import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import { importClaudeCode } from "../../src/import/claude-code/import-claude-code.ts";
import { importCodex } from "../../src/import/codex/import-codex.ts";
import { readRollout } from "../../src/import/codex/rollout.ts";
import type { ImportedSession } from "../../src/import/imported-session.ts";
import { readSourceText } from "../../src/import/source-text.ts";
import { expectTruth, readTruth, type Truth } from "./support/truth.ts";

const CORPUS = fileURLToPath(new URL("../../../shared/corpus-other-agents/", import.meta.url));
const isThere = existsSync(CORPUS);
const importedAt = "2027-01-01T00:00:00.000Z";

function casesOf(program: string): string[] {
  return isThere ? readdirSync(join(CORPUS, "generated", program)).sort() : [];
}

describe.skipIf(!isThere)(
  "what Claude Code wrote (skipped where ../shared/corpus-other-agents is missing)",
  () => {
    test.each(casesOf("claude-code"))("%s", (name) => {
      const folder = join(CORPUS, "generated", "claude-code", name);
      const truth = readTruth(join(folder, "truth.json"));
      expectTruth(importClaudeCase(folder, truth), truth);
    });
  },
);

describe.skipIf(!isThere)("what Codex wrote (skipped where ../shared/corpus-other-agents is missing)", () => {
  test.each(casesOf("codex"))("%s", (name) => {
    const folder = join(CORPUS, "generated", "codex", name);
    const truth = readTruth(join(folder, "truth.json"));
    expectTruth(importCodexCase(folder, truth), truth);
  });
});

function importCodexCase(folder: string, truth: Truth): ImportedSession[] {
  const texts = truth.files.map((path) => ({ path, ...readSourceText(readFileSync(join(folder, path))) }));
  const threads = new Map<string, typeof texts>();
  for (const text of texts) {
    const id = readRollout(text).threadId ?? "";
    threads.set(id, [...(threads.get(id) ?? []), text]);
  }
  return Array.from(threads.values(), (rollouts) => {
    const others = texts.filter((text) => !rollouts.includes(text));
    return importCodex({ rollouts, others, importedAt });
  }).filter((session) => session !== undefined);
}

function importClaudeCase(folder: string, truth: Truth): ImportedSession[] {
  const transcripts = truth.files.filter((file) => /^[^/]+\.jsonl$/.test(file));
  return transcripts.flatMap((file) => {
    const sessionId = basename(file, ".jsonl");
    const subagents = truth.files
      .filter((path) => path.startsWith(`${sessionId}/subagents/`) && path.endsWith(".jsonl"))
      .map((path) => ({
        agentId: basename(path, ".jsonl").slice("agent-".length),
        meta: JSON.parse(
          readFileSync(join(folder, path.replace(/\.jsonl$/, ".meta.json")), "utf8"),
        ) as unknown,
        ...readSourceText(readFileSync(join(folder, path))),
      }));
    const main = readSourceText(readFileSync(join(folder, file)));
    return importClaudeCode({ main, subagents, sessionId, importedAt });
  });
}
