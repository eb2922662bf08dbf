import { linkSync, readFileSync, writeFileSync } from "node:fs";
import { SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { FileLog } from "../../../src/session/log/file-log.ts";
import type { LogChange } from "../../../src/session/log/session-log.ts";
import { place, sandbox } from "../../fault/support/sandbox.ts";
import { header, lines, message, onDisk, user, VERSION_1 } from "../../fault/support/sessions.ts";
import { moveOver } from "../../support/move-over.ts";

const SECRET = "hunter2";

/** A thousand entries in a chain, with the secret in every tenth. */
const LONG = lines(
  header(),
  ...Array.from({ length: 1000 }, (_, i) =>
    message(hex(i), i === 0 ? null : hex(i - 1), i % 10 === 0 ? SECRET : `entry ${i}`),
  ),
);

function hex(number: number): string {
  return number.toString(16).padStart(8, "0");
}

function openLog(path: string): { log: FileLog; changes: LogChange[] } {
  const log = FileLog.open(path);
  if (log === undefined) throw new Error(`${path} is missing or empty`);
  const changes: LogChange[] = [];
  log.onChange = (change) => changes.push(change);
  return { log, changes };
}

function linesIn(log: FileLog, ordinals: Iterable<number>): string[] {
  const read: string[] = [];
  log.readLines(ordinals, (_, bytes) => read.push(Buffer.from(bytes).toString()));
  return read;
}

/** Replaces the file by one with an additional first entry, so that all ordinals differ, and without the secret. */
function replaceByOther(path: string): void {
  const [first = "", ...rest] = readFileSync(path, "utf8").replaceAll(SECRET, "[gone]").trimEnd().split("\n");
  writeFileSync(`${path}.new`, lines(first, message("ffffffff", null, "new in front"), ...rest));
  moveOver(`${path}.new`, path);
}

describe("a read that finds another file at the path", () => {
  test.each([
    ["that it holds open", true],
    ["that it does not hold open", false],
  ])("reads its lines, and keeps everything visible to callers, in place of one %s", (_name, isHeld) => {
    const path = place(sandbox(), "s.jsonl", LONG);
    const { log, changes } = openLog(path);
    if (isHeld) log.append([lineOf("0000ffff")], true);
    const { index } = log;
    const { size } = index.tree;
    replaceByOther(path);
    expect(linesIn(log, [0, 1, 999]).map((line) => JSON.parse(line).message.content)).toEqual([
      "[gone]",
      "entry 1",
      "entry 999",
    ]);
    expect(log.index).toBe(index);
    expect(index.tree.size).toBe(size);
    expect(changes).toEqual([]);
    expect(log.refresh()).toEqual({ kind: "reloaded", before: index });
    expect(changes).toEqual([{ kind: "reloaded", before: index }]);
    expect(log.index.tree.size).toBe(size + 1);
    expect(linesIn(log, [1])[0]).toContain("[gone]");
  });

  test("finds that one replaced as well, and the next poll reports one change", () => {
    const path = place(sandbox(), "s.jsonl", LONG);
    const { log, changes } = openLog(path);
    const { index } = log;
    for (const text of ["first", "second"]) {
      writeFileSync(`${path}.new`, readFileSync(path, "utf8").replaceAll(/hunter2|first/g, text));
      moveOver(`${path}.new`, path);
      expect(linesIn(log, [10])[0]).toContain(text);
    }
    log.append([lineOf("0000ffff")], true);
    expect(changes).toEqual([{ kind: "reloaded", before: index }]);
  });

  test("in the middle of a walk continues with the same entries", () => {
    const path = place(sandbox(), "s.jsonl", LONG);
    const { log } = openLog(path);
    const ids: string[] = [];
    for (let ordinal = 0; ordinal < 1000; ordinal++) {
      if (ordinal === 500) replaceByOther(path);
      ids.push(JSON.parse(linesIn(log, [ordinal])[0] ?? "").id);
    }
    expect(ids).toEqual(Array.from({ length: 1000 }, (_, i) => hex(i)));
  });
});

test("a session of version 1 that another process upgrades returns the same entries as before", () => {
  const path = place(sandbox(), "s.jsonl", VERSION_1);
  const session = SessionManager.open(path, { mode: "read-only" });
  const before = SessionManager.open(path, { mode: "read-only" }).getEntries();
  SessionManager.open(path).upgrade();
  expect(session.getEntries()).toEqual(before);
  expect(session.getEntries()).toEqual(onDisk(path).getEntries());
  expect(session.buildSessionContext()).toEqual(onDisk(path).buildSessionContext());
});

describe("a read next to an open walk", () => {
  test("keeps the file that the walk began to read", () => {
    const path = place(sandbox(), "s.jsonl", LONG);
    const { log } = openLog(path);
    log.append([lineOf("0000ffff")], true);
    const far = [0, 250, 500, 750, 999];
    const walked: string[] = [];
    log.readLines(far, (ordinal, bytes) => {
      if (ordinal === 0) {
        replaceByOther(path);
        expect(linesIn(log, [0])[0]).toContain("[gone]");
        // The system reuses closed descriptor numbers for the next files.
        for (let i = 0; i < 3; i++) expect(openLog(path).log.index.tree.size).toBe(1002);
      }
      walked.push(JSON.parse(Buffer.from(bytes).toString()).id);
    });
    expect(walked).toEqual(far.map(hex));
  });
});

describe("others' lines that a read finds before pending ones", () => {
  test("are reported by the next poll, once", () => {
    const path = place(sandbox(), "s.jsonl", LONG);
    const { log, changes } = openLog(path);
    const other = SessionManager.open(path);
    log.append([lineOf("0000fff0")], true);
    for (let i = 0; i < 20; i++) {
      other.appendMessage(user(`theirs ${i}`));
      log.append([lineOf(`0001000${i.toString(36)}`)], true);
      const own = log.index.tree.find(`0001000${i.toString(36)}`);
      expect(JSON.parse(linesIn(log, [own])[0] ?? "").id).toBe(`0001000${i.toString(36)}`);
    }
    log.refresh();
    const reported = changes.flatMap((change) => (change.kind === "foreign" ? [change.from] : []));
    expect(reported.length).toBeGreaterThan(0);
    expect(changes.every(({ kind }) => kind === "foreign")).toBe(true);
    expect(new Set(reported).size).toBe(reported.length);
    expect(log.index.tree.size).toBe(1041);
  });
});

function lineOf(id: string) {
  const text = JSON.stringify(message(id, hex(999), id));
  return { head: { type: "message", id, parentId: hex(999), timestampMs: 0 }, text };
}

test("a link to the file that was read is the same file", () => {
  const path = place(sandbox(), "s.jsonl", LONG);
  linkSync(path, `${path}.second`);
  const { log, changes } = openLog(path);
  moveOver(`${path}.second`, path);
  expect(log.checkReplaced()).toBe(false);
  expect(changes).toEqual([]);
});
