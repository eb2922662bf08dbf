import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import {
  buildSessionContext,
  isSessionError,
  loadEntriesFromFile,
  readSession,
  type SessionIssue,
  SessionManager,
} from "sessiontree";
import { describe, expect, test } from "vitest";
import type { Expected } from "../../fixtures/support/expected.ts";
import { toRecord } from "../../src/core/context/entry-fields.ts";
import { parseJson } from "../../src/core/jsonl/decode.ts";
import { expectBranchedSession, expectForkedSession } from "./support/forks.ts";
import { contextAt, contextsOfLeaves, joinTexts, Workshop } from "./support/sessions.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/", import.meta.url));

const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl"))
  .sort();

const sessions = files.filter((name) => expectedOf(name).refused === undefined);
const strangers = files.filter((name) => expectedOf(name).refused !== undefined);

function expectedOf(name: string): Expected {
  return JSON.parse(readFileSync(`${FIXTURES}${name.replace(/\.jsonl$/, ".expected.json")}`, "utf8"));
}

/** Writes `#n` for each id that is not in the file, as the expected results do. */
function invented(expected: Expected, actualIds: readonly string[]): (id: string | null) => string | null {
  const names = new Map(actualIds.map((id, i) => [id, expected.entries?.[i]?.id ?? id]));
  return (id) => (id === null ? null : (names.get(id) ?? id));
}

/** Formats the result of reading as the expected results are. */
function found(session: SessionManager, expected: Expected): Expected {
  const entries = session.getEntries();
  const name = invented(
    expected,
    entries.map(({ id }) => id),
  );
  const { entries: projected, thinkingLevel, model } = session.buildSessionProjection();
  const messages = projected.flatMap(({ sourceEntry, messages }) =>
    messages.map((message) => ({
      role: message.role,
      from: name(sourceEntry.id) ?? "",
      text: joinTexts(message),
    })),
  );
  const labels = entries.flatMap(({ id }) => {
    const label = session.getLabel(id);
    return label === undefined ? [] : [[name(id), label]];
  });
  const { about, writer, append, context } = expected;
  const parentSession = session.getHeader()?.parentSession;
  const displayName = session.getSessionName();
  return {
    about,
    writer,
    ...(append && { append }),
    version: readSession(readFileSync(session.getSessionFile() ?? "")).version,
    entries: entries.map((entry) => ({
      id: name(entry.id) ?? "",
      type: "originalType" in entry ? String(entry.originalType) : entry.type,
      parentId: name(entry.parentId),
      ...("originalType" in entry && { isDamaged: true }),
    })),
    leafId: name(session.getLeafId()),
    issues: byLine(session.issues),
    context: {
      // A text is compared if the fixture is about it.
      messages: messages.map((one, i) =>
        context?.messages[i]?.text === undefined ? { role: one.role, from: one.from } : one,
      ),
      thinkingLevel,
      model,
    },
    ...(displayName !== undefined && { name: displayName }),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
    ...(parentSession !== undefined && { parentSession }),
  };
}

function byLine(issues: readonly SessionIssue[]): { code: string; line: number }[] {
  return issues
    .map(({ code, line }) => ({ code, line }))
    .sort((a, b) => a.line - b.line || (a.code < b.code ? -1 : 1));
}

test("the bytes of the fixtures never change", () => {
  const checksums = files.map((name) => [
    name,
    createHash("sha256")
      .update(readFileSync(`${FIXTURES}${name}`))
      .digest("hex"),
  ]);
  expect(JSON.parse(readFileSync(`${FIXTURES}checksums.json`, "utf8"))).toEqual(
    Object.fromEntries(checksums),
  );
});

test("generated ids never change", () => {
  const ids = (name: string) =>
    readSession(readFileSync(`${FIXTURES}${name}.jsonl`)).entries.map(({ id }) => id);
  expect(ids("v1/fix-the-totals").slice(0, 3)).toEqual(["25ee574b", "99d28d65", "e29da0a6"]);
  expect(ids("v3/no-ids")).toEqual(["99e7c364", "a785ef20", "d64cdf44"]);
  expect(ids("broken/v3-duplicate-ids")[2]).toBe("53143160");
});

describe.each(sessions)("%s", (name) => {
  const expected = expectedOf(name);

  test(expected.about, () => {
    const session = SessionManager.open(`${FIXTURES}${name}`, { mode: "read-only" });
    expect(found(session, expected)).toEqual(expected);
    const ids = session.getEntries().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [i, id] of ids.entries()) {
      if (expected.entries?.[i]?.id.startsWith("#")) expect(id).toMatch(/^[0-9a-f]{8}$/);
    }
  });

  test("reads the same without a file system, and in steps", async () => {
    const session = SessionManager.open(`${FIXTURES}${name}`, { mode: "read-only" });
    const read = readSession(readFileSync(`${FIXTURES}${name}`));
    expect(read.entries).toEqual(session.getEntries());
    expect(read.header).toEqual(session.getHeader());
    expect(read.leafId).toBe(session.getLeafId());
    expect(byLine(read.issues)).toEqual(byLine(session.issues));
    const loaded = await SessionManager.openAsync(`${FIXTURES}${name}`, { mode: "read-only" });
    expect(loaded.getEntries()).toEqual(read.entries);
    expect(loaded.getHeader()).toEqual(read.header);
  });

  test("reading changes neither bytes nor times", async () => {
    using workshop = new Workshop();
    const path = workshop.copy(`${FIXTURES}${name}`);
    const before = workshop.state();
    for (const mode of ["read-only", "read-write"] as const) {
      await using session = SessionManager.open(path, { mode });
      contextsOfLeaves(session);
      session.getTree();
      await session.flush();
    }
    const listed = await SessionManager.listAll(workshop.folder);
    expect(listed.map((info) => [info.path, info.messageCount])).toEqual([
      [path, expected.entries?.filter(({ type }) => type === "message").length],
    ]);
    expect(listed[0]?.allMessagesText).toBeTypeOf("string");
    loadEntriesFromFile(path);
    expect(workshop.state()).toEqual(before);
  });

  test("every branch can become a session, and all of it can move to another project", async () => {
    using workshop = new Workshop();
    const path = `${FIXTURES}${name}`;
    const source = SessionManager.open(path, { mode: "read-only" });
    // A copy of version 1 does not carry the settings in its header, as pi's do not.
    const contexts =
      expectedOf(name).version === 1
        ? new Map(source.getLeaves().map(({ id }) => [id, buildSessionContext(source.getEntries(), id)]))
        : contextsOfLeaves(source);
    if ((expectedOf(name).version ?? 3) > 3) {
      // Entries of an unknown version are not copied under a version that promises otherwise.
      const fork = () => SessionManager.forkFrom(path, "/projects/elsewhere", workshop.folder);
      expect(fork).toThrow(expect.objectContaining({ code: "VERSION_TOO_NEW" }));
      return;
    }
    for (const [leafId, context] of contexts) {
      await expectBranchedSession(path, workshop.folder, leafId, context);
    }
    await expectForkedSession(path, workshop.makeFolder("elsewhere"), contexts);
  });
});

describe.each(sessions.filter((name) => expectedOf(name).append !== "refused"))("%s", (name) => {
  const expected = expectedOf(name);

  test("grows by a message and keeps all else", async () => {
    using workshop = new Workshop();
    const path = workshop.copy(`${FIXTURES}${name}`);
    const before = readFileSync(path);
    const message = { role: "user" as const, content: "And now?", timestamp: 1 };

    const session = SessionManager.open(path);
    const contexts = contextsOfLeaves(session);
    const leafId = session.getLeafId();
    const context = session.buildSessionContext();
    const id = session.appendMessage(message);
    const entries = session.getEntries();
    const children = entries.map((entry) => session.getChildren(entry.id));
    expect(session.buildSessionContext()).toEqual({ ...context, messages: [...context.messages, message] });
    await session.close();

    const again = SessionManager.open(path);
    expect(again.getLeafEntry()).toMatchObject({ id, parentId: leafId, message });
    expect(again.getEntries()).toEqual(entries);
    expect(entries.map((entry) => again.getChildren(entry.id))).toEqual(children);
    expect(again.buildSessionContext().messages).toEqual([...context.messages, message]);
    for (const [leaf, old] of contexts) expect(contextAt(again, leaf)).toEqual(old);
    const after = readFileSync(path);
    const names = readdirSync(workshop.folder).sort();
    if (expected.append === "grows") {
      const isOpen = before.at(-1) !== 0x0a;
      const grown = after.subarray(before.length).toString();
      expect(after.subarray(0, before.length).equals(before)).toBe(true);
      expect(grown).toBe(`${isOpen ? "\n" : ""}${JSON.stringify(again.getEntry(id))}\n`);
      expect(names).toEqual([basename(path)]);
    } else {
      const backup = `${basename(path)}.v${expected.version}.bak`;
      expect(names).toEqual([basename(path), backup]);
      expect(readFileSync(`${workshop.folder}/${backup}`).equals(before)).toBe(true);
      expect(readSession(after)).toMatchObject({ version: 3, issues: [] });
      expect(keptLines(before, expected).filter((line) => !after.includes(line))).toEqual([]);
    }
  });
});

test.each(sessions.filter((name) => expectedOf(name).append === "refused"))(
  "%s rejects an append",
  async (name) => {
    using workshop = new Workshop();
    const path = workshop.copy(`${FIXTURES}${name}`);
    const before = workshop.state();
    const session = SessionManager.open(path);
    expect(() => session.appendMessage({ role: "user", content: "And now?", timestamp: 1 })).toThrow(
      expect.objectContaining({ code: "VERSION_TOO_NEW" }),
    );
    await session.close();
    expect(workshop.state()).toEqual(before);
  },
);

/** Returns the lines of version 3 that agree with a correct reader's result: they must be kept byte for byte. */
function keptLines(bytes: Buffer, { version, entries = [] }: Expected): string[] {
  if (version !== 3) return [];
  const heads = new Set(entries.map(({ id, type, parentId }) => JSON.stringify([id, type, parentId])));
  return bytes
    .toString()
    .split("\n")
    .slice(1, -1)
    .filter((line) => {
      const { id, type, parentId = "not said" } = toRecord(parseJson(line)?.value);
      return heads.has(JSON.stringify([id, type, parentId]));
    });
}

describe.each(strangers)("%s", (name) => {
  test(expectedOf(name).about, async () => {
    using workshop = new Workshop();
    const path = workshop.copy(`${FIXTURES}${name}`);
    const before = workshop.state();
    for (const mode of ["read-only", "read-write"] as const) {
      expect(() => SessionManager.open(path, { mode })).toThrow(
        expect.toSatisfy((error) => isSessionError(error, "NOT_A_SESSION")),
      );
    }
    expect(loadEntriesFromFile(path)).toEqual([]);
    expect(await SessionManager.listAll(workshop.folder)).toEqual([]);
    expect(workshop.state()).toEqual(before);
  });
});
