import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { getRedactedIds } from "../../../src/core/format/redaction.ts";
import { readSession } from "../../../src/core/jsonl/read-session.ts";
import { exportAtif } from "../../../src/interop/atif/export-atif.ts";
import type { AtifSource } from "../../../src/interop/atif/export-options.ts";
import { hasExportedEntries } from "../../../src/interop/history/copied-entries.ts";
import { importSessions } from "../../../src/interop/history/import-sessions.ts";
import { listContents } from "../../../src/interop/history/rebase-continuation.ts";
import { canReadDatabases } from "../../../src/interop/history/sqlite.ts";
import { findAtifSession } from "../../../src/interop/import/atif/stored-lines.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { importBack, readSource, summarizePath, writeText } from "./support/trajectories.ts";
import { findAtifProblems } from "./support/validate-atif.ts";

const FIXTURES = fileURLToPath(new URL("../../../fixtures/", import.meta.url));
const CORPUS = fileURLToPath(new URL("../../../../shared/corpus/", import.meta.url));
const OTHERS = fileURLToPath(new URL("../../../../shared/corpus-other-agents/", import.meta.url));

function listSessions(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files.filter((name) => name.endsWith(".jsonl")).map((name) => join(folder, name));
}

/** Returns whether the path of a session has a step. */
function hasStep(path: readonly { readonly type: string }[]): boolean {
  const types = new Set(["message", "custom_message", "compaction", "branch_summary"]);
  return path.some(({ type }) => types.has(type));
}

function expectRoundTrip(text: string): void {
  const source = readSource(text);
  if (source.getHeader() === null || !hasStep(source.getBranch())) return;
  const whole = exportAtif(source, { state: true });
  expect(findAtifProblems(whole.trajectory)).toEqual([]);
  const header = source.getHeader();
  const countedFrom = header?.parentSession === undefined ? "" : header.timestamp;
  const [back] = importBack(whole);
  if (back === undefined) throw new Error("no session was made");
  const read = readSource(writeText(back));
  expect(readSession(writeText(back)).issues).toEqual([]);
  expect(summarizePath(read.getBranch())).toEqual(summarizePath(source.getBranch(), countedFrom));
  const context = exportAtif(source, { compacted: "context" });
  expect(findAtifProblems(context.trajectory)).toEqual([]);
  for (const exported of [whole, context]) expectRecognized(source, exported);
}

/** Expects that an import takes the copies for the session that is here, and not if one of them was changed. */
function expectRecognized(source: AtifSource, exported: ReturnType<typeof exportAtif>): void {
  const [back] = importBack(exported);
  if (back?.continued === undefined) return;
  const entries = source.getEntries();
  const hasContent = back.entries.slice(1).some((entry) => listContents({ ...entry }).length > 0);
  expect(hasExportedEntries(entries, back.entries, back.continued)).toBe(hasContent);
  const texts = entries.flatMap(getRedactedIds);
  const changed = {
    type: "message" as const,
    message: { role: "user" as const, content: "changed", timestamp: 0 },
  };
  const [first] = back.entries;
  if (first === undefined || texts.length > 0) return;
  const added = { ...first, ...changed, id: "changed" };
  const copiedIds = new Set([...back.continued.copiedIds, "changed"]);
  expect(hasExportedEntries(entries, [...back.entries, added], { ...back.continued, copiedIds })).toBe(false);
}

function expectLossless(text: string): void {
  const source = readSource(text);
  if (source.getHeader() === null || !hasStep(source.getBranch())) return;
  const { trajectory } = exportAtif(source, { lossless: text });
  expect(findAtifProblems(trajectory)).toEqual([]);
  expect(findAtifSession(JSON.parse(JSON.stringify(trajectory)))).toBe(text);
}

function testFolder(folder: string): void {
  test.each(listSessions(folder).map((path) => [relative(folder, path), path] as const))(
    "%s",
    (_path, path) => {
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(readFileSync(path));
      expectRoundTrip(text);
      expectLossless(text);
    },
  );
}

describe("fixtures", () => testFolder(FIXTURES));

describe.skipIf(!existsSync(CORPUS))("../shared/corpus (skipped where it is missing)", () =>
  testFolder(CORPUS),
);

test.skipIf(!existsSync(OTHERS))(
  "sessions of other agents (skipped where ../shared is missing)",
  async () => {
    const folder = temporaryFolder();
    const store = fileStore({ sessionDir: folder });
    const options = { store, cacheDir: temporaryFolder(), env: { HOME: temporaryFolder() }, earlierDirs: [] };
    const generated = join(OTHERS, "generated");
    const programs = readdirSync(generated).filter((name) => name !== "opencode" || canReadDatabases());
    const paths = programs.map((name) => join(generated, name));
    for await (const _ of importSessions({ ...options, paths }));
    const imported = listSessions(folder);
    expect(imported.length).toBeGreaterThan(10);
    for (const path of imported) {
      const text = readFileSync(path, "utf8");
      expectRoundTrip(text);
      expectLossless(text);
    }
  },
);
