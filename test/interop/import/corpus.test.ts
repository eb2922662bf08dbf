import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import { importClaudeCode } from "../../../src/interop/import/claude-code/import-claude-code.ts";
import { importCline } from "../../../src/interop/import/cline/import-cline.ts";
import { importCodex } from "../../../src/interop/import/codex/import-codex.ts";
import { readRollout } from "../../../src/interop/import/codex/rollout.ts";
import { importCopilot } from "../../../src/interop/import/copilot/import-copilot.ts";
import type { ImportedSession } from "../../../src/interop/import/imported-session.ts";
import { importKimi, readKimiText } from "../../../src/interop/import/kimi/import-kimi.ts";
import { importOpenCode } from "../../../src/interop/import/opencode/import-opencode.ts";
import { countSharedMessages } from "../../../src/interop/import/opencode/stored-messages.ts";
import { importQwen } from "../../../src/interop/import/qwen/import-qwen.ts";
import { readSourceText, type SourceText } from "../../../src/interop/import/source-text.ts";
import { expectTruth, readTruth, type Truth } from "./support/truth.ts";

const CORPUS = fileURLToPath(new URL("../../../../shared/corpus-other-agents/", import.meta.url));
const isThere = existsSync(CORPUS);
const importedAt = "2027-01-01T00:00:00.000Z";

/** Imports the files of a case; paths in the truth are relative to the folder. */
type ImportCase = (folder: string, truth: Truth) => ImportedSession[];

const PROGRAMS: readonly (readonly [program: string, importCase: ImportCase])[] = [
  ["claude-code", importClaudeCase],
  ["cline", importClineCase],
  ["codex", importCodexCase],
  ["kimi", importKimiCase],
  ["copilot", (...one) => importFiles("events.jsonl", importCopilot, ...one)],
  ["qwen", (...one) => importFiles(".jsonl", importQwen, ...one)],
  ["opencode", importOpenCodeCase],
];

const CASES = PROGRAMS.flatMap(([program, importCase]) => {
  const folder = join(CORPUS, "generated", program);
  const names = isThere ? readdirSync(folder).sort() : [];
  return names.map((name) => [program, name, join(folder, name), importCase] as const);
});

describe.skipIf(!isThere)(
  "sessions of other programs (skipped where ../shared/corpus-other-agents is missing)",
  () => {
    test.each(CASES)("%s %s", (_program, _name, folder, importCase) => {
      const truth = readTruth(join(folder, "truth.json"));
      expectTruth(importCase(folder, truth), truth);
    });
  },
);

function importClineCase(folder: string, truth: Truth): ImportedSession[] {
  const read = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), "utf8"));
  const of = (sessionId: string) => {
    const own = truth.files.filter((path) => path.includes(`/${sessionId}/`));
    const main = own.find((path) => path.endsWith(`/${sessionId}.messages.json`)) ?? "";
    const manifest = main.replace(".messages.json", ".json");
    const others = own.filter((path) => path !== main && path !== manifest);
    return importCline({
      document: read(main),
      manifest: read(manifest),
      subagents: others.map((path) => ({ path, document: read(path) })),
      sessionId,
      importedAt,
    });
  };
  return truth.sessions.flatMap(of);
}

function importKimiCase(folder: string, truth: Truth): ImportedSession[] {
  const of = (sessionId: string) => {
    const own = truth.files.filter((path) => path.includes(`/${sessionId}/`));
    const wires = own.filter((path) => path.endsWith("/wire.jsonl"));
    return importKimi({
      wires: wires.map((path) => ({
        path,
        agentId: basename(dirname(path)),
        ...readKimiText(readFileSync(join(folder, path))),
      })),
      sessionId,
      importedAt,
    });
  };
  return truth.sessions.flatMap(of);
}

/** Imports each file with an extension as a session. */
function importFiles(
  ending: string,
  importText: (input: SourceText & { path: string; importedAt: string }) => ImportedSession[],
  folder: string,
  { files }: Truth,
): ImportedSession[] {
  return files
    .filter((path) => path.endsWith(ending))
    .flatMap((path) => importText({ path, importedAt, ...readSourceText(readFileSync(join(folder, path))) }));
}

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

function importOpenCodeCase(folder: string, truth: Truth): ImportedSession[] {
  const documents = truth.files
    .filter((file) => file.endsWith(".json"))
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as { info: { id: string } })
    .sort((one, other) => (one.info.id < other.info.id ? -1 : 1));
  return documents.flatMap((document) => {
    const origin = documents.find((other) => other !== document && countSharedMessages(document, other) > 0);
    const isFork = document.info.id === truth.forkedFrom?.forkSession;
    const forkedFrom = isFork && origin !== undefined ? { forkedFrom: origin.info.id } : {};
    return importOpenCode({ document, ...forkedFrom, importedAt }) ?? [];
  });
}
