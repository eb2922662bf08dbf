import { describe, expect, test } from "vitest";
import type { EntryHead } from "../../src/core/format/head.ts";
import type { LogChange, LogLine, SessionLog } from "../../src/session/log/session-log.ts";

/** Log with access to its storage. */
export interface LogUnderTest {
  readonly log: SessionLog;
  /** Returns all bytes of the storage. */
  bytes(): Uint8Array;
  /** Opens the same storage again. */
  reopen(): SessionLog;
  /** Writes to the storage as another writer does; missing if there can be none. */
  readonly writeForeign?: (text: string) => void;
}

/** Creates a log over a storage with the given text. */
export type LogFactory = (content: string) => LogUnderTest;

const TIME = "2026-03-01T12:00:00.000Z";

const HEADER = `{"type":"session","version":3,"id":"one","timestamp":"${TIME}","cwd":"/project"}`;

/** Creates a line with an entry. */
const entryText = (id: string, parentId: string | null, text: string) =>
  JSON.stringify({
    type: "message",
    id,
    parentId,
    timestamp: TIME,
    message: { role: "user", content: text, timestamp: 0 },
  });

/** Spellings that JSON.stringify does not produce. */
const ODD_LINES = [
  `{ "type" : "message" , "id":"000000b1", "parentId": null,"timestamp":"${TIME}","message":{"role":"user","content":"spaces"}}`,
  `{"type":"of tomorrow","id":"000000b2","parentId":"000000b1","timestamp":"${TIME}","fields":[1e3,"\\u00e9"]}`,
  `{"type":"custom","customType":"x","data":{"a":"\u2028"},"id":"000000b3","parentId":"000000b2","timestamp":"${TIME}"}`,
  `{"type":"message","id":"000000b4","parentId":"000000b3","timestamp":"${TIME}","message":{"role":"user","content":"€ 🌳"},"__proto__":{"x":1}}`,
];

const text = (...lines: string[]) => lines.map((line) => `${line}\n`).join("");

function line(id: string, parentId: string | null, content = id): LogLine {
  return {
    head: { type: "message", id, parentId, timestampMs: Date.parse(TIME) },
    text: entryText(id, parentId, content),
  };
}

const ids = ({ index }: SessionLog) => Array.from(index.tree.ordinals(), (i) => index.tree.idAt(i));

function readAll(log: SessionLog, ordinals: Iterable<number> = log.index.tree.ordinals()): string[] {
  const lines: string[] = [];
  log.readLines(ordinals, (ordinal, bytes) => lines.push(`${ordinal}: ${Buffer.from(bytes).toString()}`));
  return lines;
}

function recordChanges(log: SessionLog): LogChange[] {
  const changes: LogChange[] = [];
  log.onChange = (change) => changes.push(change);
  return changes;
}

/** Tests the contract of `SessionLog`, for any storage. */
export function describeSessionLog(name: string, make: LogFactory): void {
  const filled = text(HEADER, entryText("000000a1", null, "1"), entryText("000000a2", "000000a1", "2"));

  describe(`${name}, as a log`, () => {
    test("reads header and entries of its storage, in order", () => {
      const { log } = make(filled);
      expect(log.index.header?.id).toBe("one");
      expect(ids(log)).toEqual(["000000a1", "000000a2"]);
    });

    test("appends after everything and returns the ordinal of the first", () => {
      const { log, reopen, bytes } = make(filled);
      expect(log.append([line("000000a3", "000000a2")], true)).toBe(2);
      expect(log.append([line("000000a4", "000000a3"), line("000000a5", "000000a1")], true)).toBe(3);
      expect(ids(log)).toEqual(["000000a1", "000000a2", "000000a3", "000000a4", "000000a5"]);
      expect(log.index.tree.parentAt(4)).toBe(0);
      expect(ids(reopen())).toEqual(ids(log));
      const added = [
        entryText("000000a3", "000000a2", "000000a3"),
        entryText("000000a4", "000000a3", "000000a4"),
        entryText("000000a5", "000000a1", "000000a5"),
      ];
      expect(Buffer.from(bytes()).toString()).toBe(filled + text(...added));
    });

    test("appends nothing for an empty list", () => {
      const { log, bytes } = make(filled);
      log.append([], true);
      expect(Buffer.from(bytes()).toString()).toBe(filled);
    });

    test("returns lines byte for byte, in the requested order", () => {
      const { log } = make(text(HEADER, ...ODD_LINES));
      log.append([line("000000b5", "000000b4", "\u0000\n\ud800")], true);
      const lines = [...ODD_LINES, entryText("000000b5", "000000b4", "\u0000\n\ud800")].map(
        (one, i) => `${i}: ${one}`,
      );
      expect(readAll(log)).toEqual(lines);
      expect(readAll(log, [4, 0, 2])).toEqual([lines[4], lines[0], lines[2]]);
      expect(readAll(log, [1])).toEqual([lines[1]]);
      expect(readAll(log, [])).toEqual([]);
    });

    test("ends an unterminated last line before the next", () => {
      const { log, bytes, reopen } = make(filled.trimEnd());
      expect(ids(log)).toEqual(["000000a1", "000000a2"]);
      log.append([line("000000a3", "000000a2")], true);
      expect(Buffer.from(bytes()).toString()).toBe(
        filled + text(entryText("000000a3", "000000a2", "000000a3")),
      );
      expect(readAll(log)).toEqual(readAll(reopen()));
    });

    test("keeps a torn line, separate from the next one", () => {
      const torn = entryText("000000ff", "000000a2", "torn").slice(0, 90);
      const { log, bytes, reopen } = make(filled + torn);
      log.append([line("000000a3", "000000a2")], true);
      log.append([line("000000a4", "000000a3")], true);
      const added = text(
        entryText("000000a3", "000000a2", "000000a3"),
        entryText("000000a4", "000000a3", "000000a4"),
      );
      expect(Buffer.from(bytes()).toString()).toBe(`${filled}${torn}\n${added}`);
      const reopened = reopen();
      expect(ids(reopened)).toEqual(expect.arrayContaining(["000000a1", "000000a2", "000000a3", "000000a4"]));
      expect(reopened.index.tree.headAt(reopened.index.tree.find("000000a4")).parentId).toBe("000000a3");
    });

    test("rewrites entries, keeps all others unchanged, and appends after them", () => {
      const { log, bytes, reopen } = make(text(HEADER, ...ODD_LINES));
      const changes = recordChanges(log);
      const before = log.index;
      const change = (text: string, head?: EntryHead) =>
        head?.id === "000000b1"
          ? JSON.stringify({ ...JSON.parse(text), message: { role: "user", content: "gone" } })
          : text;
      log.rewrite(change, () => [line("000000b5", "000000b4")]);
      const [first, ...others] = Buffer.from(bytes()).toString().trimEnd().split("\n").slice(1);
      expect(JSON.parse(first ?? "")).toMatchObject({ id: "000000b1", message: { content: "gone" } });
      expect(others).toEqual([...ODD_LINES.slice(1), entryText("000000b5", "000000b4", "000000b5")]);
      expect(changes).toEqual([{ kind: "reloaded", before }]);
      expect(log.index).not.toBe(before);
      expect(ids(log)).toEqual(["000000b1", "000000b2", "000000b3", "000000b4", "000000b5"]);
      expect(readAll(reopen())).toEqual(readAll(log));
      log.append([line("000000b6", "000000b5")], true);
      expect(ids(reopen())).toEqual(ids(log));
    });

    test("is unchanged after a failed rewrite", () => {
      const { log, bytes } = make(filled);
      const changes = recordChanges(log);
      const fail = () => {
        throw new RangeError("no");
      };
      expect(() => log.rewrite(fail, () => [line("000000a3", "000000a2")])).toThrow(Error);
      expect(Buffer.from(bytes()).toString()).toBe(filled);
      expect(ids(log)).toEqual(["000000a1", "000000a2"]);
      expect(changes).toEqual([]);
    });

    test("finds nothing new if there was no other write", () => {
      const { log } = make(filled);
      const changes = recordChanges(log);
      log.append([line("000000a3", "000000a2")], true);
      expect(log.refresh()).toBeUndefined();
      expect(changes).toEqual([]);
    });

    test("is read-only after close, and may be closed again", async () => {
      const { log, reopen } = make(filled);
      expect(log.readOnlyReason).toBeUndefined();
      log.append([line("000000a3", "000000a2")], true);
      await log.flush();
      await log.flush();
      expect(log.readOnlyReason).toBeUndefined();
      await Promise.all([log.close(), log.close()]);
      await log.close();
      log.release();
      expect(log.readOnlyReason).toBe("closed");
      expect(ids(log)).toEqual(["000000a1", "000000a2", "000000a3"]);
      expect(ids(reopen())).toEqual(ids(log));
    });

    test("is read-only after it was abandoned", () => {
      const { log } = make(filled);
      log.append([line("000000a3", "000000a2")], true);
      log.release();
      log.release();
      expect(log.readOnlyReason).toBe("closed");
    });

    test("is read-only if a newer version wrote it", () => {
      const { log } = make(text(HEADER.replace(":3,", ":4,"), entryText("000000a1", null, "1")));
      expect(log.readOnlyReason).toBe("version");
      expect(ids(log)).toEqual(["000000a1"]);
    });
  });

  if (make(filled).writeForeign === undefined) return;
  describe(`${name}, next to other writers`, () => {
    test("finds their entries, once, and reports them", () => {
      const { log, writeForeign } = make(filled);
      const changes = recordChanges(log);
      writeForeign?.(
        text(entryText("000000f1", "000000a1", "theirs"), entryText("000000f2", "000000f1", "too")),
      );
      expect(log.refresh()).toEqual({ kind: "foreign", from: 2 });
      expect(log.refresh()).toBeUndefined();
      expect(changes).toEqual([{ kind: "foreign", from: 2 }]);
      expect(ids(log)).toEqual(["000000a1", "000000a2", "000000f1", "000000f2"]);
    });

    test("separates own and others' lines, in any order", () => {
      const { log, writeForeign, reopen } = make(filled);
      for (let i = 1; i <= 20; i++) {
        log.append([line(`000001${String(i).padStart(2, "0")}`, "000000a2")], true);
        if (i % 3 === 0)
          writeForeign?.(text(entryText(`000002${String(i).padStart(2, "0")}`, "000000a1", "€".repeat(i))));
      }
      log.refresh();
      const reopened = reopen();
      expect(new Set(ids(log))).toEqual(new Set(ids(reopened)));
      const byId = (one: SessionLog) =>
        new Map(
          readAll(one).map((read) => [
            JSON.parse(read.slice(read.indexOf("{"))).id,
            read.replace(/^\d+: /, ""),
          ]),
        );
      expect(byId(log)).toEqual(byId(reopened));
      expect(reopened.index.issues).toEqual([]);
    });

    test("keeps a line that is still being written", () => {
      const { log, writeForeign } = make(filled);
      const changes = recordChanges(log);
      const theirs = entryText("000000f1", "000000a2", "half");
      writeForeign?.(theirs.slice(0, 50));
      expect(log.refresh()).toBeUndefined();
      expect(log.index.issues.map(({ code }) => code)).toEqual(["TAIL_TORN"]);
      writeForeign?.(`${theirs.slice(50)}\n`);
      expect(log.refresh()).toEqual({ kind: "foreign", from: 2 });
      expect(log.index.issues).toEqual([]);
      expect(readAll(log, [2])).toEqual([`2: ${theirs}`]);
      expect(changes).toHaveLength(1);
    });
  });
}
