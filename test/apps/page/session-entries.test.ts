import { expect, test } from "vitest";
import { viewPath } from "../../../src/apps/page/model/path-items.ts";
import { SessionEntries } from "../../../src/apps/page/model/session-entries.ts";
import { getKindAt, makeSessionModel } from "../../../src/apps/page/model/session-model.ts";
import { readSession } from "../../../src/core.ts";
import { bigSession } from "../../browser/support/big-session.ts";
import { getEntries, modelOfText, searchModel } from "./support/session.ts";

const TEXT = `${bigSession(300)}{"type":"message","id":"torn`;
const BYTES = new TextEncoder().encode(
  TEXT.replace("A very long session", "Eine sehr lange Sitzung: \u00fc \u{1f426}"),
);

/** Reads bytes in pieces. */
function read(
  bytes: Uint8Array,
  pieceBytes: number,
  entries = new SessionEntries(new Map()),
): SessionEntries {
  for (let at = 0; at < bytes.length; at += pieceBytes) entries.append(bytes.subarray(at, at + pieceBytes));
  entries.end();
  return entries;
}

test("a session that arrives in pieces and grows equals the one read at once", () => {
  const whole = readSession(BYTES);
  const discounts = searchModel(modelOfText(BYTES), "discount");
  expect(discounts.length).toBeGreaterThan(10);
  for (const pieceBytes of [7, 1000, BYTES.length]) {
    const entries = read(BYTES.subarray(0, 20_000), pieceBytes);
    entries.readFacts();
    const beginning = makeSessionModel(entries, "s.jsonl");
    const before = getEntries(beginning);
    const foundBefore = searchModel(beginning, "discount");
    read(BYTES.subarray(20_000), pieceBytes, entries);
    entries.readFacts();
    const model = makeSessionModel(entries, "s.jsonl");
    expect(getEntries(model)).toEqual(whole.entries);
    expect(before).toEqual(whole.entries.slice(0, before.length));
    expect(model.issues).toEqual(whole.issues);
    expect(model.tree.idAt(model.leaf)).toBe(whole.leafId);
    expect(searchModel(model, "discount")).toEqual(discounts);
    // Searched entries are not searched again.
    expect([...foundBefore, ...searchModel(model, "discount", before.length)]).toEqual(discounts);
    expect(foundBefore.length).toBeGreaterThan(0);
    expect(Buffer.concat(Array.from(model.bytes.between(0, BYTES.length), ({ bytes }) => bytes))).toEqual(
      Buffer.from(BYTES),
    );
  }
});

test("before a session is loaded completely, its end can be shown, and the session reports that it is partial", () => {
  const entries = read(BYTES, 1000);
  const first = makeSessionModel(entries, "s.jsonl");
  const firstPath = viewPath(first, first.leaf);
  expect(first.isWhole).toBe(false);
  expect(entries.readFacts(() => true)).toBe(false);
  expect(entries.readFacts()).toBe(true);
  const model = makeSessionModel(entries, "s.jsonl");
  expect(model.isWhole).toBe(true);
  const path = viewPath(model, model.leaf);
  expect(firstPath.modelItems.map(({ ordinal }) => ordinal)).toEqual(
    path.modelItems.map(({ ordinal }) => ordinal),
  );
  expect(firstPath.contextSize).toEqual(path.contextSize);
  for (const { ordinal } of path.items) expect(getKindAt(first, ordinal)).toBe(model.kinds[ordinal]);
});

test("facts of some entries are known before those of all, and then replaced", () => {
  const entries = read(BYTES, 10_000);
  entries.readEarlyFacts([1, 2, 40]);
  expect(entries.isWhole).toBe(false);
  expect(Object.keys(entries.facts)).toEqual(["1", "2", "40"]);
  const partial = makeSessionModel(entries, "s.jsonl");
  expect(partial.isWhole).toBe(false);
  expect(partial.kinds).toHaveLength(entries.tree.size);
  const { items } = viewPath(partial, partial.leaf);
  entries.readFacts();
  const whole = makeSessionModel(entries, "s.jsonl");
  expect(whole.isWhole).toBe(true);
  expect(whole.facts).not.toContain(undefined);
  expect(partial.kinds[40]).toBe(whole.kinds[40]);
  expect(viewPath(whole, whole.leaf).items).toHaveLength(items.length);
});
