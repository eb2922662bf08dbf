import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import { importClaudeCode } from "../../src/import/claude-code/import-claude-code.ts";
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
