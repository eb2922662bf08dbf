import { describe, expect, it } from "vitest";
import { isSessionError } from "../../src/core/format/errors.ts";
import { type ReadSessionResult, readSession } from "../../src/core/jsonl/read-session.ts";
import { mergeSessionContents } from "../../src/core/merge/merge-plan.ts";
import fc from "../support/fast-check.ts";
import { getMinimum } from "../support/share.ts";
import { sessionFile } from "./support/session-files.ts";

const HEADER = {
  type: "session",
  version: 3,
  id: "s",
  timestamp: "2026-02-03T09:00:00.000Z",
  cwd: "/projects/a",
};
const START_MS = Date.parse("2026-02-03T09:00:00.000Z");

/** Few ids, so that copies assign the same ones to different entries; one of each kind. */
const IDS = [
  "00000001",
  "00000002",
  "0000000a",
  "0000000b",
  "0194d0a1-7c3e-7b52-9d0e-5a3f0c1b2d4e",
  "__proto__",
  "x",
];

/** Append to a copy; numbers choose among existing entries. */
interface Step {
  readonly id: string;
  readonly parent: number;
  readonly target: number;
  readonly kind: "message" | "label" | "compaction" | "name" | "custom" | "leaf" | "summary";
  readonly text: string;
  /** Clocks may stop and go backward. */
  readonly second: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  id: fc.constantFrom(...IDS),
  parent: fc.nat(5),
  target: fc.nat(5),
  kind: fc.constantFrom<Step["kind"][]>(
    ...(["message", "message", "label", "compaction", "name", "custom", "leaf", "summary"] as const),
  ),
  text: fc.constantFrom("a", "b"),
  second: fc.nat(6),
});
const steps = fc.array(step, { maxLength: 9 });

type Fields = { readonly [name: string]: unknown };

function bodyOf({ kind, text }: Step, targetId: string): Fields {
  switch (kind) {
    case "message":
      return { type: "message", message: { role: "user", content: text, timestamp: 1 } };
    case "label":
      return { type: "label", targetId, label: text };
    case "compaction":
      return { type: "compaction", summary: text, firstKeptEntryId: targetId, tokensBefore: 1 };
    case "name":
      return { type: "session_info", name: text };
    case "custom":
      return { type: "custom", customType: "host", data: { targetId }, note: text };
    case "leaf":
      return { type: "leaf", targetId, note: text };
    case "summary":
      return { type: "branch_summary", fromId: targetId, summary: text };
  }
}

/** Appends to the text of a session file, as a host does that knows its content. */
function extend(text: string, more: readonly Step[]): string {
  const ids = readSession(text).entries.map(({ id }) => id);
  let grown = text;
  for (const one of more) {
    if (ids.includes(one.id)) continue;
    const pick = (n: number) => ids[ids.length - 1 - n];
    const targetId = pick(one.target) ?? one.id;
    const { type, ...body } = bodyOf(one, targetId);
    const timestamp = new Date(START_MS + one.second * 1000).toISOString();
    grown += `${JSON.stringify({ type, id: one.id, parentId: pick(one.parent) ?? null, timestamp, ...body })}\n`;
    ids.push(one.id);
  }
  return grown;
}

/** Changes the text of an entry in place, as an editor does. */
function edit(text: string, which: number): string {
  const lines = text.split("\n");
  const at = 1 + which;
  if (lines[at]?.includes('"content":"a"'))
    lines[at] = lines[at].replace('"content":"a"', '"content":"edited"');
  return lines.join("\n");
}

/** Three copies of one session that were continued separately. */
const copies = fc
  .record({
    base: steps,
    more: fc.tuple(steps, steps, steps),
    edits: fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9)),
  })
  .map(({ base, more, edits }) => {
    const text = extend(`${JSON.stringify(HEADER)}\n`, base);
    return more.map((one, i) => edit(extend(text, one), edits[i] ?? 0));
  });

const decoder = new TextDecoder();

function merge(a: string, b: string): string {
  return decoder.decode(mergeSessionContents(a, b).content);
}

/** Returns the contents of entries without their ids. */
function contents({ entries }: ReadSessionResult): string[] {
  return entries
    .map((entry) => JSON.stringify({ ...entry, id: "", parentId: "", ...withoutIds(entry) }))
    .sort();
}

function withoutIds(entry: object): Fields {
  const without: { [name: string]: unknown } = {};
  for (const field of ["targetId", "firstKeptEntryId", "fromId"]) if (field in entry) without[field] = "";
  if ("data" in entry) without["data"] = "";
  return without;
}

/** Returns the contents of the path to each entry, which is the model's input there. */
function paths(read: ReadSessionResult): Set<string> {
  const byId = new Map(read.entries.map((entry) => [entry.id, entry]));
  return new Set(
    read.entries.map((leaf) => {
      const path: string[] = [];
      for (let at = byId.get(leaf.id); at !== undefined; at = byId.get(at.parentId ?? "")) {
        path.push(...contents({ ...read, entries: [at] }));
      }
      return path.join("\n");
    }),
  );
}

describe("merging copies", () => {
  it("gives the same bytes in either order", () => {
    fc.assert(
      fc.property(copies, ([a = "", b = ""]) => {
        expect(merge(b, a)).toBe(merge(a, b));
      }),
      { numRuns: 500 },
    );
  });

  it("gives the same bytes for three copies in any order", () => {
    fc.assert(
      fc.property(copies, ([a = "", b = "", c = ""]) => {
        const all = merge(merge(a, b), c);
        expect(merge(a, merge(b, c))).toBe(all);
        expect(merge(merge(a, c), b)).toBe(all);
        expect(merge(merge(a, b), merge(b, c))).toBe(all);
      }),
      { numRuns: 700 },
    );
  });

  it("is idempotent", () => {
    fc.assert(
      fc.property(copies, ([a = "", b = ""]) => {
        const once = merge(a, b);
        expect(merge(once, once)).toBe(once);
        expect(merge(once, a)).toBe(once);
        expect(merge(b, once)).toBe(once);
      }),
      { numRuns: 500 },
    );
  });

  it("is idempotent after merged copies were continued and merged again", () => {
    fc.assert(
      fc.property(copies, steps, steps, steps, ([a = "", b = "", c = ""], x, y, z) => {
        const [ab, bc] = [extend(merge(a, b), x), extend(merge(b, c), y)];
        const all = merge(ab, bc);
        expect(merge(bc, ab)).toBe(all);
        expect(merge(all, ab)).toBe(all);
        const d = extend(a, z);
        expect(merge(merge(ab, bc), d)).toBe(merge(ab, merge(bc, d)));
      }),
      { numRuns: 500 },
    );
  });

  it("gives a file without issues, parents before children, with every line of both", () => {
    fc.assert(
      fc.property(copies, ([a = "", b = ""]) => {
        const text = merge(a, b);
        const read = readSession(text);
        expect(read.issues).toEqual([]);
        expect(read.version).toBe(3);
        const seen = new Set<string>();
        for (const { id, parentId } of read.entries) {
          expect(parentId === null || seen.has(parentId)).toBe(true);
          seen.add(id);
        }
        const found = new Set(contents(read));
        for (const copy of [a, b])
          for (const one of contents(readSession(copy))) expect(found.has(one)).toBe(true);
        const ids = new Set([a, b].flatMap((copy) => readSession(copy).entries.map(({ id }) => id)));
        for (const id of ids) expect(seen.has(id)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("keeps every path of every copy, if their common entries were not changed", () => {
    let conflicts = 0;
    fc.assert(
      fc.property(steps, steps, steps, (base, x, y) => {
        const text = extend(`${JSON.stringify(HEADER)}\n`, base);
        const a = extend(text, marked(x, "in a"));
        const b = extend(text, marked(y, "in b"));
        const merged = mergeSessionContents(a, b);
        conflicts += merged.conflicts.length;
        const found = paths(readSession(merged.content));
        for (const copy of [a, b]) for (const path of paths(readSession(copy))) expect(found).toContain(path);
      }),
      { numRuns: 500 },
    );
    expect(conflicts).toBeGreaterThan(getMinimum(50));
  });
});

describe("merging files in any state", () => {
  it("gives a valid file, the same in either order, or is rejected; lines without a place in it are reported", () => {
    fc.assert(
      fc.property(sessionFile, sessionFile, (a, b) => {
        const merged = mergeOrRefuse(a, b);
        if (merged === undefined) return;
        const read = readSession(merged.content);
        expect(read.issues).toEqual([]);
        expect(read.entries.length).toBe(merged.entries);
        expect(decoder.decode(mergeOrRefuse(b, a)?.content)).toBe(decoder.decode(merged.content));
        // An entry whose parent one copy lost may close a cycle with the other's, and then becomes a root.
        const hasLost = [a, b].some((copy) =>
          readSession(copy).issues.some(({ code }) => code.startsWith("PARENT_")),
        );
        const again = mergeOrRefuse(merged.content, merged.content);
        if (!hasLost) expect(decoder.decode(again?.content)).toBe(decoder.decode(merged.content));
        for (const [side, copy] of [
          ["a", a],
          ["b", b],
        ] as const) {
          const codes = merged.issues[side].map(({ code }) => code);
          for (const { code } of readSession(copy).issues) expect(codes).toContain(code);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

function mergeOrRefuse(a: Uint8Array, b: Uint8Array) {
  try {
    return mergeSessionContents(a, b);
  } catch (error) {
    expect(isSessionError(error)).toBe(true);
    return undefined;
  }
}

/** Marks steps as unique to a copy. */
function marked(list: readonly Step[], mark: string): Step[] {
  return list.map((one) => ({ ...one, text: one.text + mark }));
}
