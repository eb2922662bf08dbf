import {
  appendFileSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { expect, test } from "vitest";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { beforeCall } from "../../support/before-call.ts";
import { assistant } from "../../support/messages.ts";
import {
  type ClaudeRecord,
  call,
  joinLines,
  part,
  record,
  result,
  SESSION_ID,
  text,
  user,
  uuid,
} from "../import/support/claude-records.ts";
import { Places } from "./support/places.ts";
import { CLAUDE_PATH } from "./support/transcript.ts";

/** More bytes than an import re-reads, so the beginning is not re-read. */
const TURNS = 60;

/** A conversation of many turns with calls, answers in parts, parallel results, and notes, each turn about 5 KB. */
function turns(from: number, to: number): ClaudeRecord[] {
  const records: ClaudeRecord[] = [];
  let parent: string | null = from === 0 ? null : `c${from - 1}`;
  for (let turn = from; turn < to; turn++) {
    const [q, a, b, r, s, c] = [..."qabrsc"].map((letter) => `${letter}${turn}`);
    if (
      q === undefined ||
      a === undefined ||
      b === undefined ||
      r === undefined ||
      s === undefined ||
      c === undefined
    )
      throw new Error("There are six records.");
    records.push(
      { type: "queue-operation", operation: "enqueue", sessionId: SESSION_ID },
      user(q, parent, `prompt ${turn} ${"x".repeat(1600)}`),
      part(a, q, `msg_${turn}`, call(`t${turn}`)),
      part(b, a, `msg_${turn}`, call(`u${turn}`), { stop: "tool_use" }),
      result(r, a, `t${turn}`, "y".repeat(400), { toolUseResult: { stdout: "z".repeat(400) } }),
      record("attachment", `x${turn}`, r, { attachment: { type: "date" } }),
      result(s, b, `u${turn}`, "two"),
      part(c, s, `msg_${turn}b`, text(`done ${turn}`), { stop: "end_turn" }),
    );
    parent = c;
  }
  return records;
}

/** Overwrites the beginning of a file with the same size, so that a reader would find damage. */
function spoilBeginning(path: string): void {
  const fd = openSync(path, "r+");
  writeSync(fd, "#".repeat(40), 0);
  closeSync(fd);
}

/** Returns a session without its header and its provenance. */
function bodyOf(path: string | null | undefined): string {
  return readFileSync(path ?? "", "utf8")
    .split("\n")
    .slice(2)
    .join("\n");
}

/** Returns the result of one import of everything. */
async function importedAtOnce(records: readonly ClaudeRecord[]) {
  const places = new Places();
  places.put(CLAUDE_PATH, joinLines(records));
  const [one] = await places.import();
  return { body: bodyOf(one?.path), counts: one?.counts, dropped: one?.dropped };
}

/** Imports a long transcript, then damages its beginning. */
async function importedLong() {
  const places = new Places();
  const records = turns(0, TURNS);
  const source = places.put(CLAUDE_PATH, joinLines(records));
  await places.import();
  spoilBeginning(source);
  const importAfter = async (more: readonly ClaudeRecord[]) => {
    appendFileSync(source, joinLines(more));
    const [one] = await places.import();
    return one;
  };
  return { places, source, records, importAfter };
}

test("imports appended records without re-reading the beginning, with the result of a full import", async () => {
  const { records, importAfter } = await importedLong();
  const more = turns(TURNS, TURNS + 3);
  const first = await importAfter(more.slice(0, 5));
  expect(first).toMatchObject({ status: "grown", issues: [] });
  const second = await importAfter(more.slice(5));
  expect(second).toMatchObject({ status: "grown", issues: [] });
  const { body, counts, dropped } = await importedAtOnce([...records, ...more]);
  expect(bodyOf(second?.path)).toBe(body);
  expect(second).toMatchObject({ counts, dropped });
});

const last = `c${TURNS - 1}`;

test.each<[name: string, records: ClaudeRecord[]]>([
  [
    "a compaction",
    [record("system", "k", null, { subtype: "compact_boundary", logicalParentUuid: uuid(last) })],
  ],
  ["a name", [{ type: "custom-title", customTitle: "Long", sessionId: SESSION_ID }, user("n", last, "on")]],
  ["totals", [{ type: "cost-state", modelUsage: {}, sessionId: SESSION_ID }, user("n", last, "on")]],
  ["an unknown note", [{ type: "news", sessionId: SESSION_ID }, user("n", last, "on")]],
  ["a result of an early call", [result("n", last, "t1", "late")]],
  ["a branch from the beginning", [user("n", "c1", "instead")]],
  ["another agent", [part("n", last, "msg_n", call("tn", "Task", { prompt: "look" }))]],
  ["an interruption of the last answer", [user("n", last, "[Request interrupted by user]")]],
  [
    "a message of the program",
    [part("n", last, "msg_n", text("Oh"), { message: { model: "<synthetic>", content: [] } })],
  ],
  ["a copy of an early record", [user("q1", last, "again")]],
  ["an early time", [user("n", last, "on", { timestamp: "2026-11-22T04:00:00.000Z" })]],
])("reads everything if there is %s", async (_, more) => {
  const { importAfter } = await importedLong();
  const one = await importAfter(more);
  expect(one?.issues.map(({ code }) => code)).toContain("LINE_UNREADABLE");
});

test("reads everything after changes made here, and keeps them", async () => {
  const { places, importAfter } = await importedLong();
  const session = SessionManager.open(
    [...places.files().keys()].map((name) => `${places.sessions}/${name}`)[0] ?? "",
  );
  const id = session.appendMessage(assistant("mine"));
  session.close();
  const one = await importAfter(turns(TURNS, TURNS + 1));
  expect(one?.issues.map(({ code }) => code)).toContain("LINE_UNREADABLE");
  expect(SessionManager.open(one?.path ?? "").getLeafId()).not.toBe(null);
  expect(bodyOf(one?.path)).toContain(id);
});

test("leaves the leaf with a writer that continues during the import of the end", async () => {
  const { importAfter } = await importedLong();
  const more = turns(TURNS, TURNS + 2);
  const path = (await importAfter(more.slice(0, 8)))?.path ?? "";
  const closed: Promise<void>[] = [];
  const isAppend = (at: unknown, flags: unknown) =>
    at === path && typeof flags === "number" && (flags & constants.O_APPEND) !== 0;
  beforeCall("openSync", isAppend, () => {
    const mine = SessionManager.open(path);
    mine.appendMessage({ role: "user", content: "mine", timestamp: 0 });
    closed.push(mine.close());
  });
  expect(await importAfter(more.slice(8))).toMatchObject({ status: "grown", issues: [] });
  expect(closed).toHaveLength(1);
  await Promise.all(closed);
  const session = SessionManager.open(path, { mode: "read-only" });
  expect(session.buildSessionContext().messages.at(-1)).toMatchObject({ content: "mine" });
  expect(readFileSync(path, "utf8")).toContain(`done ${TURNS + 1}`);
  expect(session.issues).toEqual([]);
});

test.each([
  ["an entry has the id of a new one", (text: string) => text.replaceAll(idOf("q2"), idOf(`q${TURNS + 1}`))],
  ["a line begins otherwise", (text: string) => text.replace('{"type":"custom"', '{ "type":"custm"')],
])("reads everything if %s in the session", async (_, change) => {
  const { importAfter } = await importedLong();
  const more = turns(TURNS, TURNS + 2);
  const path = (await importAfter(more.slice(0, 8)))?.path ?? "";
  const before = readFileSync(path, "utf8");
  const after = change(before);
  writeFileSync(path, after);
  expect(after).not.toBe(before);
  expect((await importAfter(more.slice(8)))?.issues).not.toEqual([]);
});

function idOf(name: string): string {
  return uuid(name).slice(0, 8);
}

test("reads a torn line once it is whole", async () => {
  const { places, source, importAfter } = await importedLong();
  const [first = "", ...rest] = turns(TURNS, TURNS + 1)
    .slice(1)
    .map((one) => JSON.stringify(one));
  appendFileSync(source, first.slice(0, 50));
  const [torn] = await places.import();
  expect(torn?.issues.map(({ code }) => code)).toContain("TAIL_TORN");
  appendFileSync(source, `${first.slice(50)}\n${rest.join("\n")}\n`);
  const whole = await importAfter([]);
  expect(whole?.status).toBe("grown");
  expect(bodyOf(whole?.path)).toContain(`done ${TURNS}`);
});

test("makes the same session incrementally as from a full import, wherever a transcript is cut", async () => {
  const records = turns(0, TURNS + 6);
  const { body } = await importedAtOnce(records);
  const lines = records.map((one) => joinLines([one]));
  for (let cut = 0; cut < 8; cut++) {
    const places = new Places();
    const source = places.put(CLAUDE_PATH, "");
    const steps = [lines.length - 40 + cut, lines.length - 20 + cut, lines.length - 9, lines.length];
    let one: { readonly path: string | null } | undefined;
    for (const step of steps) {
      writeFileSync(source, lines.slice(0, step).join(""));
      [one] = await places.import();
    }
    expect(bodyOf(one?.path), `cut at ${cut}`).toBe(body);
  }
});
