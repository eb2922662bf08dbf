import { beforeAll, describe, expect, test } from "vitest";
import { isSessionError, type SessionErrorCode } from "../../../src/core/format/errors.ts";
import type { StoredLine } from "../../../src/stores/contract/session-backend.ts";
import { migrateDatabase } from "../../../src/stores/postgres/migrate.ts";
import { quoteNames } from "../../../src/stores/postgres/names.ts";
import { PostgresBackend } from "../../../src/stores/postgres/postgres-backend.ts";
import {
  headerLine,
  makeSessionFacts,
  messageLine,
  otherLine,
  TIME_MS,
  yieldPieces,
} from "../support/lines.ts";
import { embeddedDatabase } from "./support/embedded.ts";

const database = embeddedDatabase({ hasTrigrams: true });
let backend: PostgresBackend;

beforeAll(async () => {
  await migrateDatabase({ client: database() });
  backend = new PostgresBackend({ client: database() });
});

const fails = (code: SessionErrorCode) => (error: unknown) => isSessionError(error, code);

let sessions = 0;

/** Creates a session with only its header. */
async function newSession(): Promise<string> {
  const id = `session-${sessions++}`;
  await backend.create(makeSessionFacts(id), yieldPieces([headerLine(id)]));
  return id;
}

async function textsOf(id: string): Promise<string[]> {
  const { lines } = await backend.read(id, 0, 1_000);
  return lines.slice(1).map(({ text }) => text);
}

test("returns lines byte for byte, whatever they contain", async () => {
  const texts = [
    "",
    " ",
    "\ufeff{",
    "\ufeff\ufeff",
    "{\r",
    "\\u0000 \\ud800",
    "\u2028€🌳",
    "{'$1' \"%_\\\\}",
    "\t\u0001\u007f",
  ];
  const raw = [
    Buffer.from([0]),
    Buffer.from([0xff, 0xfe, 0]),
    Buffer.from("\ud7ff\0x"),
    Buffer.alloc(200, 7),
  ];
  const lines = [
    ...texts.map((text) => ({ text })),
    ...raw.map((bytes) => ({ text: bytes.toString("base64"), encoding: "base64" as const })),
    { text: "torn", isUnterminated: true as const },
  ];
  await backend.create(makeSessionFacts("bytes"), yieldPieces(lines));
  const page = await backend.read("bytes", 0, 100);
  const bare = ({ seq: _seq, ...line }: StoredLine) => line;
  expect(page.lines.map(bare)).toEqual(lines);
  expect(page).toMatchObject({ isEnd: true, revision: 0 });
});

test("shows a session of several pieces once the last one is stored, and keeps repeated lines", async () => {
  const line = messageLine("000000a1", null);
  const seen: number[] = [];
  async function* pieces() {
    for (const piece of [[headerLine("pieces"), line], [line], [line, line]]) {
      seen.push((await backend.list({ limit: 10, idPrefix: "pieces" })).length);
      yield piece;
    }
  }
  const receipt = await backend.create(makeSessionFacts("pieces"), pieces());
  expect(seen).toEqual([0, 0, 0]);
  expect(receipt).toEqual({ precedingSeq: 0, lastSeq: 5, revision: 0 });
  expect(await textsOf("pieces")).toEqual([line.text, line.text, line.text, line.text]);
});

test("stores nothing of a session whose lines end in an error", async () => {
  async function* pieces() {
    yield [headerLine("torn")];
    yield [messageLine("000000a1", null)];
    yield [messageLine("000000a2", null)];
    throw new Error("the source is gone");
  }
  await expect(backend.create(makeSessionFacts("torn"), pieces())).rejects.toThrow("the source is gone");
  const rows = await database().query("select 1 from sessiontree.sessions where id = 'torn'");
  expect(rows.rows).toEqual([]);
  await backend.create(makeSessionFacts("torn"), yieldPieces([headerLine("torn")]));
});

test("removes what a crash abandoned after a day", async () => {
  await database().query(
    "insert into sessiontree.sessions (id, cwd, project, created_ms, modified_ms, is_complete, made_at) values ('left', '', '', 0, 0, false, now() - interval '2 days')",
  );
  const pieces = yieldPieces([headerLine("later")], [messageLine("000000a1", null)]);
  await backend.create(makeSessionFacts("later"), pieces);
  expect((await database().query("select 1 from sessiontree.sessions where id = 'left'")).rows).toEqual([]);
});

test("accepts an id once, even from two callers at the same time", async () => {
  const id = await newSession();
  await expect(backend.create(makeSessionFacts(id), yieldPieces([headerLine(id)]))).rejects.toSatisfy(
    fails("SESSION_EXISTS"),
  );
  const both = await Promise.allSettled(
    ["a", "b"].map((cwd) =>
      backend.create(makeSessionFacts("raced", { cwd }), yieldPieces([headerLine("raced")])),
    ),
  );
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(both.filter(({ status }) => status === "rejected")).toSatisfy(([one]) =>
    isSessionError(one.reason, "SESSION_EXISTS"),
  );
});

test("reports missing sessions as missing", async () => {
  const missing = fails("SESSION_NOT_FOUND");
  await expect(backend.read("nobody", 0, 1)).rejects.toSatisfy(missing);
  await expect(backend.append("nobody", [messageLine("000000a1", null)])).rejects.toSatisfy(missing);
  await expect(
    backend.subscribe?.("nobody", () => undefined, { signal: AbortSignal.timeout(1) }),
  ).rejects.toSatisfy(missing);
  const change = { expectedRevision: 0, replace: [], remove: [], append: [], facts: {} };
  await expect(backend.amend("nobody", change)).rejects.toSatisfy(missing);
  expect(await backend.delete("nobody")).toBe(false);
});

test("treats an id that is not a string as unknown, and finds nothing for a query that is not a string", async () => {
  await backend.create(makeSessionFacts("\ufffd"), yieldPieces([headerLine("\ufffd")]));
  for (const id of ["a\0b", "\ud800"]) {
    const facts = makeSessionFacts(id);
    await expect(backend.create(facts, yieldPieces([headerLine(id)]))).rejects.toSatisfy(
      fails("INVALID_SESSION_ID"),
    );
    await expect(backend.read(id, 0, 1)).rejects.toSatisfy(fails("SESSION_NOT_FOUND"));
    expect(await backend.delete(id)).toBe(false);
    expect(await backend.search({ words: [`x${id}x`], limit: 1 })).toEqual([]);
    expect(await backend.list({ name: `x${id}x`, cwd: id, idPrefix: `x${id}`, limit: 1 })).toEqual([]);
    const condition = { expectedLeafId: id };
    const stale = backend.append("\ufffd", [messageLine("000000a1", null)], condition);
    await expect(stale).rejects.toSatisfy(fails("STALE_LEAF"));
  }
  const long = "x".repeat(513);
  const tooLong = backend.create(makeSessionFacts(long), yieldPieces([headerLine(long)]));
  await expect(tooLong).rejects.toSatisfy(fails("INVALID_SESSION_ID"));
});

test("deletes a session's lines with it", async () => {
  const id = await newSession();
  const count = async () => (await database().query("select 1 from sessiontree.lines")).rows.length;
  const before = await count();
  await backend.append(id, [messageLine("000000a1", null), messageLine("000000a2", "000000a1")]);
  expect(await count()).toBe(before + 2);
  expect(await backend.delete(id)).toBe(true);
  expect(await count()).toBe(before - 1);
  await expect(backend.read(id, 0, 1)).rejects.toSatisfy(fails("SESSION_NOT_FOUND"));
});

test("ends pages at a limit of lines or bytes, with at least one line", async () => {
  const id = await newSession();
  const large = "x".repeat(3_000_000);
  for (const entry of ["000000a1", "000000a2", "000000a3"])
    await backend.append(id, [messageLine(entry, null, large)]);
  const [first, ...rest] = (await backend.read(id, 0, 1_000)).lines;
  expect(first?.seq).toBe(1);
  expect(rest.map(({ seq }) => seq)).toEqual([2, 3]);
  expect(await backend.read(id, 3, 1_000)).toMatchObject({ lines: [{ seq: 4 }], isEnd: true });
  expect(await backend.read(id, 1, 1)).toMatchObject({ lines: [{ seq: 2 }], isEnd: false });
  expect(await backend.read(id, 4, 1)).toEqual({ lines: [], isEnd: true, revision: 0 });
});

describe("appending", () => {
  const [a, b, c] = [
    messageLine("000000a1", null),
    messageLine("000000a2", "000000a1"),
    messageLine("000000a3", null),
  ];

  test("adds lines after all others, and only those that are not stored", async () => {
    const id = await newSession();
    expect(await backend.append(id, [a, b])).toEqual({ precedingSeq: 1, lastSeq: 3, revision: 0 });
    expect(await backend.append(id, [a, b])).toEqual({ precedingSeq: 1, lastSeq: 3, revision: 0 });
    expect(await backend.append(id, [b, c])).toEqual({ precedingSeq: 2, lastSeq: 4, revision: 0 });
    expect(await backend.append(id, [])).toEqual({ precedingSeq: 4, lastSeq: 4, revision: 0 });
    expect(await textsOf(id)).toEqual([a.text, b.text, c.text]);
    const other = messageLine("000000a1", null, "the same id with another text");
    expect(await backend.append(id, [other])).toMatchObject({ lastSeq: 5 });
  });

  test("succeeds for the expected leaf only", async () => {
    const id = await newSession();
    const stale = fails("STALE_LEAF");
    await expect(backend.append(id, [a], { expectedLeafId: "000000ff" })).rejects.toSatisfy(stale);
    await backend.append(id, [a], { expectedLeafId: null });
    await expect(backend.append(id, [b], { expectedLeafId: null })).rejects.toSatisfy(stale);
    await backend.append(id, [b], { expectedLeafId: "000000a1" });
    // The answer was lost, and the same request is repeated.
    expect(await backend.append(id, [b], { expectedLeafId: "000000a1" })).toMatchObject({ lastSeq: 3 });
    await expect(backend.append(id, [b, c], { expectedLeafId: "000000a1" })).rejects.toMatchObject({
      details: { expectedLeafId: "000000a1", leafId: "000000a2" },
    });
    expect(await textsOf(id)).toEqual([a.text, b.text]);
  });

  test("ignores entries that do not conflict", async () => {
    const id = await newSession();
    await backend.append(id, [otherLine("session_info", "000000b1", { name: "named" })], {
      expectedLeafId: null,
    });
    await backend.append(id, [a], { expectedLeafId: null });
    await backend.append(id, [otherLine("label", "000000b2", { targetId: "000000a1", label: "x" })]);
    await backend.append(id, [b], { expectedLeafId: "000000a1" });
    await backend.append(id, [otherLine("usage", "000000b3")]);
    await backend.append(id, [c], { expectedLeafId: "000000b3" });
    expect(await textsOf(id)).toHaveLength(6);
  });

  test("accepts ids of any kind", async () => {
    const id = await newSession();
    const ids = [
      "'; drop table sessiontree.lines; --",
      "x".repeat(100_000),
      "y".repeat(100_000),
      "\\",
      "%",
      "🌳",
    ];
    for (const entry of ids) await backend.append(id, [messageLine(entry, entry)]);
    for (const entry of ids) await backend.append(id, [messageLine(entry, entry)]);
    expect(await textsOf(id)).toHaveLength(ids.length);
    await expect(backend.append(id, [a], { expectedLeafId: `${"x".repeat(99_999)}!` })).rejects.toSatisfy(
      fails("STALE_LEAF"),
    );
    await backend.append(id, [a], { expectedLeafId: "🌳" });
  });

  test("returns the facts for a list", async () => {
    const id = await newSession();
    await backend.append(id, [
      messageLine("000000a1", null, "the first", TIME_MS + 5),
      messageLine("000000a2", null, "the second", TIME_MS + 3),
      otherLine("session_info", "000000a3", { name: "Größe 100%" }),
    ]);
    const [facts] = await backend.list({ limit: 1, idPrefix: id });
    const told = {
      name: "Größe 100%",
      messageCount: 2,
      firstMessage: "the first",
      lastMessageMs: TIME_MS + 5,
    };
    expect(facts).toEqual(makeSessionFacts(id, told));
    expect(await backend.list({ limit: 5, name: "GRÖSSE 100%" })).toEqual([facts]);
    expect(await backend.list({ limit: 5, name: "_" })).toEqual([]);
    await backend.append(id, [otherLine("session_info", "000000a4", { name: " " })]);
    expect(await backend.list({ limit: 1, idPrefix: id })).toMatchObject([{ name: null }]);
  });
});

test("a search finds any part of a text, and treats nothing in it as a command", async () => {
  const [id, cwd] = ["searched", "/searched"];
  await backend.create(makeSessionFacts(id, { cwd }), yieldPieces([headerLine(id)]));
  await backend.append(id, [messageLine("000000a1", null, "100% of a_b\\c are ÄPFEL, 東京タワー")]);
  const find = async (...words: string[]) =>
    (await backend.search({ words, cwd, limit: 5 })).map(({ line }) => line.seq);
  for (const word of ["100%", "a_b", "\\c", "äpfel", "京タワ", "OF", "re Äp"])
    expect(await find(word)).toEqual([2]);
  expect(await find("100%", "東京")).toEqual([2]);
  for (const word of ["0%o", "a%b", "axb", "pfal", "'"]) expect(await find(word)).toEqual([]);
  expect(await find("100%", "missing")).toEqual([]);
});

test("an embedded database notifies of every append until the signal aborts", async () => {
  const id = await newSession();
  const other = await newSession();
  const told: string[] = [];
  const end = new AbortController();
  await backend.subscribe?.(id, () => told.push("more"), end);
  await backend.append(other, [messageLine("000000a1", null)]);
  await backend.append(id, [messageLine("000000a1", null)]);
  expect(told).toEqual(["more"]);
  end.abort();
  await backend.append(id, [messageLine("000000a2", null)]);
  expect(told).toEqual(["more"]);
});

test("sends no notification for a session without a watcher, or without one any longer", async () => {
  const id = await newSession();
  const told: string[] = [];
  const stop = await database().listen(quoteNames("sessiontree").channel, (payload) => told.push(payload));
  await backend.append(id, [messageLine("000000a1", null)]);
  expect(told).toEqual([]);
  const end = new AbortController();
  await backend.subscribe?.(id, () => undefined, end);
  await backend.append(id, [messageLine("000000a2", null)]);
  expect(told).toHaveLength(1);
  await database().query("update sessiontree.sessions set watched_until = now() - interval '1 second'");
  await backend.append(id, [messageLine("000000a3", null)]);
  expect(told).toHaveLength(1);
  end.abort();
  await stop();
});

test("reports that there are no notifications if they are off", async () => {
  const quiet = new PostgresBackend({ client: database(), notify: false });
  expect(quiet.supports.watch).toBe(false);
  expect(quiet.subscribe).toBeUndefined();
});

test("uses the search index where it helps", async () => {
  const client = database();
  await client.query("set enable_seqscan = off");
  const { rows } = await client.query<{ "QUERY PLAN": string }>(
    "explain select 1 from sessiontree.lines l where l.search like '%NEEDLE%'",
  );
  await client.query("reset enable_seqscan");
  expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toContain("lines_by_text");
});
