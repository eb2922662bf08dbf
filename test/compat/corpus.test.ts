import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type AnySessionEntry,
  isSessionError,
  loadEntriesFromFile,
  readSession,
  SessionManager,
} from "sessiontree";
import { describe, expect, test } from "vitest";
import { FileLog } from "../../src/session/log/file-log.ts";
import { expectBranchedSession, expectForkedSession } from "./support/forks.ts";
import { contextAt, contextsOfLeaves, joinTexts, Workshop } from "./support/sessions.ts";

const CORPUS = fileURLToPath(new URL("../../../shared/corpus/", import.meta.url));
const isMissing = !existsSync(CORPUS);
if (isMissing)
  console.info(`no session files of other programs at ${CORPUS}: compatibility with them is not tested`);

const STRANGERS = ["fx-resume/wrong-header-type.jsonl"];

const files = isMissing
  ? []
  : readdirSync(CORPUS, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".jsonl"))
      .sort();

const sessions = files.filter((name) => !STRANGERS.includes(name));

/** Line of a file: its position, and its record, if it holds exactly one with a type. */
interface Line {
  readonly offset: number;
  readonly bytes: Buffer;
  readonly type: string | undefined;
}

/** Splits a file without the library's reader. */
function splitLines(bytes: Buffer): Line[] {
  const found: Line[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const lineBreak = bytes.indexOf(0x0a, offset);
    const end = lineBreak === -1 ? bytes.length : lineBreak;
    const line = bytes.subarray(offset, end);
    found.push({ offset, bytes: line, type: typeOf(line.toString()) });
    offset = end + 1;
  }
  return found;
}

function typeOf(line: string): string | undefined {
  try {
    const { type }: { type?: unknown } = JSON.parse(line);
    return typeof type === "string" ? type : undefined;
  } catch (error) {
    // A line that does not parse is not a valid line; the test is about the others.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns the lines after the header that hold one record each. */
function healthyLines(bytes: Buffer): Line[] {
  const all = splitLines(bytes);
  const header = all.findIndex(({ type }) => type === "session");
  return all.slice(header + 1).filter(({ type }) => type !== undefined);
}

/** Checks that the old bytes are at the beginning of the file, or, after an upgrade, in a backup next to it. */
function expectKept(path: string, before: Buffer): void {
  const [backup] = readdirSync(dirname(path)).filter((name) => name !== basename(path));
  const kept =
    backup === undefined
      ? readFileSync(path).subarray(0, before.length)
      : readFileSync(join(dirname(path), backup));
  expect(kept.equals(before)).toBe(true);
  expect(backup === undefined || /\.v[123]\.bak$/.test(backup)).toBe(true);
}

describe.skipIf(isMissing)("session files of other writers", () => {
  describe.each(sessions)("%s", (name) => {
    test("every valid line is returned byte for byte, under its head", () => {
      const log = FileLog.open(`${CORPUS}${name}`, { mode: "read-only" });
      const { tree, spans } = log?.index ?? {};
      const read = new Map<number, { bytes: string; type: string | undefined }>();
      log?.readLines(tree?.ordinals() ?? [], (ordinal, bytes) => {
        const offset = spans?.offsetAt(ordinal) ?? -1;
        read.set(offset, { bytes: Buffer.from(bytes).toString("latin1"), type: tree?.typeAt(ordinal) });
      });
      const healthy = healthyLines(readFileSync(`${CORPUS}${name}`));
      for (const { offset, bytes, type } of healthy) {
        expect(read.get(offset)).toEqual({ bytes: bytes.toString("latin1"), type });
      }
      expect(read.size).toBeGreaterThanOrEqual(healthy.length);
    });

    test("every line that is not an entry is reported", () => {
      const { entries, issues } = readSession(readFileSync(`${CORPUS}${name}`));
      const reported = new Set(issues.map(({ line }) => line));
      const lines = splitLines(readFileSync(`${CORPUS}${name}`));
      const header = lines.findIndex(({ type }) => type === "session");
      lines.forEach(({ type }, i) => {
        if (type === undefined || i < header) expect(reported).toContain(i + 1);
      });
      expect(entries.length).toBeGreaterThanOrEqual(lines.length - 1 - reported.size);
    });

    test("reading changes neither bytes nor times", async () => {
      using workshop = new Workshop();
      const path = workshop.copy(`${CORPUS}${name}`);
      const before = workshop.state();
      for (const mode of ["read-only", "read-write"] as const) {
        await using session = SessionManager.open(path, { mode });
        expect(contextsOfLeaves(session).size).toBe(session.getLeaves().length);
        session.getTree();
        await session.flush();
      }
      expect(await SessionManager.listAll(workshop.folder)).toHaveLength(1);
      expect(loadEntriesFromFile(path).length).toBeGreaterThan(0);
      expect(workshop.state()).toEqual(before);
    });

    test("grows by a message, and every context is unchanged after reopening", async () => {
      using workshop = new Workshop();
      const path = workshop.copy(`${CORPUS}${name}`);
      const session = SessionManager.open(path);
      const entries = session.getEntries();
      const contexts = contextsOfLeaves(session);
      const { messages } = session.buildSessionContext();
      const leafId = session.getLeafId();
      const message = { role: "user" as const, content: "Go on.", timestamp: 1 };
      const id = session.appendMessage(message);
      await session.close();

      const again = SessionManager.open(path);
      expect(again.getLeafEntry()).toMatchObject({ id, parentId: leafId, message });
      expect(again.getEntries().slice(0, -1)).toEqual(entries);
      expect(again.buildSessionContext().messages).toEqual([...messages, message]);
      for (const [leaf, context] of contexts) expect(contextAt(again, leaf)).toEqual(context);
      expectKept(path, readFileSync(`${CORPUS}${name}`));
    });

    test("every branch can become a session, and all of it can move to another project", async () => {
      using workshop = new Workshop();
      const path = `${CORPUS}${name}`;
      const contexts = contextsOfLeaves(SessionManager.open(path, { mode: "read-only" }));
      for (const [leafId, context] of contexts) {
        await expectBranchedSession(path, workshop.folder, leafId, context);
      }
      await expectForkedSession(path, workshop.makeFolder("elsewhere"), contexts);
    });
  });

  test.each(STRANGERS)("%s is not a session, and is not changed", (name) => {
    using workshop = new Workshop();
    const path = workshop.copy(`${CORPUS}${name}`);
    const before = workshop.state();
    for (const mode of ["read-only", "read-write"] as const) {
      expect(() => SessionManager.open(path, { mode })).toThrow(
        expect.toSatisfy((error) => isSessionError(error, "NOT_A_SESSION")),
      );
    }
    expect(loadEntriesFromFile(path)).toEqual([]);
    expect(workshop.state()).toEqual(before);
  });

  test.each([
    ["pi-mono/large-session.jsonl", { version: 1, entries: 1018, issues: [] }],
    ["pi-mono/session-2025-12-17.jsonl", { version: 1, entries: 463, issues: ["RECORDS_GLUED 440"] }],
    ["pi-mono-html/v2-export-738aa34c.jsonl", { version: 2, entries: 53, issues: [] }],
    ["pi-mono-html/v2-export-b457b17b.jsonl", { version: 2, entries: 4, issues: [] }],
    ["kimchi/statsuline.jsonl", { version: 3, entries: 111, issues: [] }],
    ["fx-formic/omp-session.jsonl", { version: 3, entries: 3, issues: ["RECORD_BEFORE_HEADER 1"] }],
    [
      "fx-agent-sessions/openclaw-small-noparent.jsonl",
      { version: 3, entries: 4, issues: ["PARENT_BRIDGED 3", "PARENT_BRIDGED 4", "PARENT_BRIDGED 5"] },
    ],
    ["fx-kuato/pi-session-noeol.jsonl", { version: 3, entries: 5, issues: ["PARENT_MISSING 3"] }],
    ["fx-kuato/header-only-noeol.jsonl", { version: 3, entries: 0, issues: [] }],
  ])("%s agrees with its index", (name, facts) => {
    const { version, entries, issues } = readSession(readFileSync(`${CORPUS}${name}`));
    const found = {
      version,
      entries: entries.length,
      issues: issues.map(({ code, line }) => `${code} ${line}`),
    };
    expect(found).toEqual(facts);
  });

  test("both records on line 440 exist, one after the other", () => {
    const path = `${CORPUS}pi-mono/session-2025-12-17.jsonl`;
    const session = SessionManager.open(path, { mode: "read-only" });
    const line = splitLines(readFileSync(path))[439]?.bytes.toString() ?? "";
    const seam = line.indexOf('}{"type"') + 1;
    const halves = [line.slice(0, seam), line.slice(seam)].map((text) => JSON.parse(text));
    const entries = session.getEntries();
    const first = entries.findIndex(({ timestamp }) => timestamp === halves[0].timestamp);
    expect(entries.slice(first, first + 2)).toMatchObject(halves);
    expect(entries[first + 1]?.parentId).toBe(entries[first]?.id);
    expect(entries[first + 2]?.parentId).toBe(entries[first + 1]?.id);
    expect(session.issues).toMatchObject([{ code: "RECORDS_GLUED", line: 440, length: line.length }]);
  });

  test("the compaction of version 1 keeps entries from the record of its index on", () => {
    const path = `${CORPUS}pi-mono/session-2025-12-17.jsonl`;
    const records: { type: string; firstKeptEntryIndex?: number }[] = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .flatMap((line) => line.replace(/\}(?=\{"type":"message","timestamp")/g, "}\n").split("\n"))
      .map((line) => JSON.parse(line));
    const compaction = records.find(({ type }) => type === "compaction");
    const kept = records[compaction?.firstKeptEntryIndex ?? -1];
    const session = SessionManager.open(path, { mode: "read-only" });
    const [first, second] = session.buildContextEntries();
    expect(first?.type).toBe("compaction");
    expect(second).toMatchObject({ ...kept });
    expect(session.buildSessionContext().messages[0]?.role).toBe("compactionSummary");
  });

  test("messages of extensions are in the context, their state is not", () => {
    const session = SessionManager.open(`${CORPUS}kimchi/statsuline.jsonl`, { mode: "read-only" });
    const entries: AnySessionEntry[] = session.getEntries();
    const count = (type: string) => entries.filter((entry) => entry.type === type).length;
    expect([count("custom_message"), count("custom")]).toEqual([10, 5]);
    const { messages } = session.buildSessionContext();
    expect(messages.filter(({ role }) => role === "custom")).toHaveLength(10);
    expect(messages.every((message) => typeof joinTexts(message) === "string")).toBe(true);
  });

  test("the files are where the index lists them", () => {
    const index = readFileSync(`${CORPUS}INDEX.md`, "utf8");
    expect(files.filter((name) => !index.includes(`| ${name} |`)).map((name) => basename(name))).toEqual([]);
  });
});
