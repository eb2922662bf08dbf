import assert from "node:assert/strict";
import type { SessionFacts } from "../../core/facts/session-facts.ts";
import type { NewEntryLine, NewLine, SessionBackend, StoredLine } from "../contract/session-backend.ts";
import { makeEntryLine } from "../remote/line-codec.ts";
import {
  CWD,
  expectError,
  makeEntryText,
  makeHeaderLine,
  START_MS,
  type SuiteTest,
  say,
  testWith,
  waitSoon,
} from "./kit.ts";

/** Returns the facts of a session without entries. */
const facts = (id: string): SessionFacts => ({
  id,
  cwd: CWD,
  name: null,
  parentSession: null,
  createdMs: START_MS,
  lastMessageMs: null,
  messageCount: 0,
  firstMessage: null,
});

/** Creates a line that contains a message entry. */
const line = (id: string, parentId: string | null = null, text = id): NewEntryLine =>
  makeEntryLine(makeEntryText(id, parentId, text), true);

async function* batches(...given: (readonly NewLine[])[]): AsyncGenerator<readonly NewLine[], void> {
  yield* given;
}

const make = (backend: SessionBackend, id: string, ...lines: NewLine[]) =>
  backend.create(facts(id), batches([{ text: makeHeaderLine(id) }], lines));

/** Reads all lines of a session and checks each page. */
async function readLines(backend: SessionBackend, id: string, limit = 1_000): Promise<StoredLine[]> {
  const lines: StoredLine[] = [];
  for (;;) {
    const page = await backend.read(id, lines.at(-1)?.seq ?? 0, limit);
    assert.ok(page.lines.length <= limit, "a page does not exceed the limit");
    assert.ok(page.isEnd || page.lines.length > 0, "a page that is not the last contains a line");
    const [first] = page.lines;
    assert.ok((first?.seq ?? Infinity) > (lines.at(-1)?.seq ?? 0), "a page begins after the previous page");
    lines.push(...page.lines);
    if (page.isEnd) return lines;
  }
}

/** Reads the text of all lines after the header. */
const readTexts = async (backend: SessionBackend, id: string) =>
  (await readLines(backend, id)).slice(1).map(({ text }) => text);

const test = testWith("backend");
const testOfTwo = testWith("backend", "another");

/** Tests for a backend, independent of the store on top of it. */
export const BACKEND_CONTRACT: readonly SuiteTest[] = [
  test("stores lines unchanged, numbers them in order, and returns them in pages", async ({ backend }) => {
    const odd: NewLine[] = [
      { text: "" },
      { text: "\r" },
      { text: "\ufeff" },
      { text: "no json \u2028 €🌳 \u0001 \u007f" },
      { text: Buffer.from([0, 255, 10]).toString("base64"), encoding: "base64" },
      { text: "last", isUnterminated: true },
    ];
    const receipt = await make(backend, "odd", ...odd);
    const lines = await readLines(backend, "odd");
    assert.deepEqual(
      lines
        .slice(1)
        .map(({ text, encoding, isUnterminated }) => [text, encoding ?? undefined, isUnterminated === true]),
      odd.map(({ text, encoding, isUnterminated }) => [text, encoding, isUnterminated === true]),
    );
    assert.equal(receipt.lastSeq, lines.at(-1)?.seq);
    assert.equal(receipt.precedingSeq, 0);
    for (const [i, { seq }] of lines.entries()) {
      assert.ok(Number.isSafeInteger(seq) && seq > (lines[i - 1]?.seq ?? 0), "seq is positive and increases");
    }
    for (const limit of [1, 2, 3, 7]) assert.deepEqual(await readLines(backend, "odd", limit), lines);
    const behind = await backend.read("odd", receipt.lastSeq, 10);
    assert.deepEqual([behind.lines.length, behind.isEnd], [0, true]);
  }),
  test("creates a session completely or not at all, and only once", async ({ backend }) => {
    const broken = async function* () {
      yield [{ text: makeHeaderLine("broken") }];
      throw new RangeError("the source broke");
    };
    await assert.rejects(backend.create(facts("broken"), broken()));
    await expectError("SESSION_NOT_FOUND", () => backend.read("broken", 0, 10));
    await make(backend, "there", line("000000a1"));
    await expectError("SESSION_EXISTS", () => make(backend, "there", line("000000a2")));
    assert.deepEqual(await readTexts(backend, "there"), [line("000000a1").text]);
  }),
  test("appends a batch once, however often it is sent, and returns its position", async ({ backend }) => {
    const { lastSeq } = await make(backend, "one");
    const batch = [line("000000a1"), line("000000a2", "000000a1")];
    const receipt = await backend.append("one", batch);
    assert.equal(receipt.precedingSeq, lastSeq);
    assert.deepEqual(await backend.append("one", batch), receipt);
    const foreign = await backend.append("one", [line("000000b1")]);
    assert.equal(foreign.precedingSeq, receipt.lastSeq);
    assert.deepEqual(await backend.append("one", batch), receipt);
    const stale = { expectedLeafId: "000000a2" };
    if (backend.supports.conditionalAppend)
      assert.deepEqual(await backend.append("one", batch, stale), receipt);
    assert.deepEqual(
      await readTexts(backend, "one"),
      [...batch, line("000000b1")].map(({ text }) => text),
    );
    const [listed] = await backend.list({ limit: 1 });
    assert.equal(listed?.messageCount, 3, "lines sent again are not counted again");
  }),
  test("stores an entry whose id is already used by another entry", async ({ backend }) => {
    await make(backend, "one", line("000000a1"));
    const other = line("000000a1", null, "another text");
    await backend.append("one", [other]);
    assert.deepEqual(await readTexts(backend, "one"), [line("000000a1").text, other.text]);
  }),
  test("compares the leaf, ignoring labels, names, and usage, and adds nothing if it differs", async ({
    backend,
  }) => {
    if (!backend.supports.conditionalAppend) return;
    await make(backend, "one");
    const append = (id: string, expectedLeafId: string | null) =>
      backend.append("one", [line(id)], { expectedLeafId });
    await expectError("STALE_LEAF", () => append("000000a1", "000000ff"));
    await append("000000a1", null);
    await expectError("STALE_LEAF", () => append("000000a2", null));
    const timestamp = new Date(START_MS).toISOString();
    for (const [i, type] of ["label", "session_info", "usage"].entries()) {
      const record = {
        type,
        id: `000000c${i}`,
        parentId: "000000a1",
        timestamp,
        name: "n",
        targetId: "000000a1",
      };
      await backend.append("one", [makeEntryLine(JSON.stringify(record), true)]);
    }
    await append("000000a2", "000000a1");
    await expectError("STALE_LEAF", () => append("000000a3", "000000a1"));
    await expectError("STALE_LEAF", () => append("000000a3", "000000c1"));
    assert.equal((await readTexts(backend, "one")).length, 5);
    await expectError("SESSION_NOT_FOUND", () => backend.append("none", [line("000000a1")]));
  }),
  test("changes lines unless another process has changed them, and increments the revision", async ({
    backend,
  }) => {
    const { amend } = backend;
    assert.equal(amend !== undefined, backend.supports.rewrite);
    if (amend === undefined) return;
    await make(backend, "one", line("000000a1"), { text: "damage" }, line("000000a2"));
    const [, first, damage] = await readLines(backend, "one");
    const { revision } = await backend.read("one", 0, 1);
    const change = {
      expectedRevision: revision,
      replace: [{ seq: first?.seq ?? 0, line: line("000000a1", null, "gone") }],
      remove: [damage?.seq ?? 0],
      append: [line("000000a3")],
      facts: { name: null, firstMessage: "gone" },
    };
    const receipt = await amend.call(backend, "one", change);
    assert.equal(receipt?.revision, revision + 1);
    const after = [line("000000a1", null, "gone"), line("000000a2"), line("000000a3")].map(
      ({ text }) => text,
    );
    assert.deepEqual(await readTexts(backend, "one"), after);
    assert.equal((await backend.read("one", 0, 1)).revision, revision + 1);
    assert.equal(await amend.call(backend, "one", change), undefined);
    assert.deepEqual(await readTexts(backend, "one"), after);
    assert.equal((await backend.list({ limit: 1 }))[0]?.firstMessage, "gone");
    if (backend.search !== undefined) {
      const found = async (word: string) => (await backend.search?.({ words: [word], limit: 10 }))?.length;
      assert.deepEqual([await found("000000a1"), await found("gone")], [0, 1]);
    }
    assert.equal((await backend.append("one", [line("000000a4")])).revision, revision + 1);
    await expectError("SESSION_NOT_FOUND", () =>
      amend.call(backend, "none", { ...change, expectedRevision: 0 }),
    );
  }),
  test("finds lines in a fixed order, page by page", async ({ backend }) => {
    const { search } = backend;
    assert.equal(search !== undefined, backend.supports.search);
    if (search === undefined) return;
    for (const id of ["a", "b", "B"]) {
      await make(backend, id, line("000000a1", null, "needle one"), line("000000a2", null, "needle two"));
    }
    const wanted = ["b", "b", "a", "a", "B", "B"];
    for (const limit of [1, 2, 4, 10]) {
      const found: string[] = [];
      for (let after: { sessionId: string; seq: number } | undefined; ; ) {
        const page = await search.call(backend, { words: ["needle"], limit, ...(after && { after }) });
        found.push(...page.map(({ session }) => session.id));
        const last = page.at(-1);
        if (page.length < limit || last === undefined) break;
        assert.ok(found.length <= wanted.length, "a search ends");
        after = { sessionId: last.session.id, seq: last.line.seq };
      }
      assert.deepEqual(found, wanted, `pages of ${limit}`);
    }
    const count = async (words: string[], cwd: string) =>
      (await search.call(backend, { words, cwd, limit: 10 })).length;
    assert.equal(await count(["needle", "two"], CWD), 3);
    assert.equal(await count(["needle"], "/projects/none"), 0);
  }),
  testOfTwo(
    "signals when a session grows or is changed, by any process, until the signal is aborted",
    async ({ backend, another }) => {
      const { subscribe } = backend;
      assert.equal(subscribe !== undefined, backend.supports.watch);
      if (subscribe === undefined) return;
      await make(backend, "one", line("000000a1"));
      const theirs = await (await another()).open("one");
      const [end, early] = [new AbortController(), new AbortController()];
      let wake: () => void = () => undefined;
      let earlyCalls = 0;
      await subscribe.call(backend, "one", () => wake(), end);
      await subscribe.call(backend, "one", () => earlyCalls++, early);
      const waitForHint = async (change: () => Promise<unknown>) => {
        const told = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await change();
        await waitSoon(told, "a signal arrives");
      };
      const grow = (text: string) => {
        say(theirs, text);
        return theirs.flush();
      };
      await waitForHint(() => grow("of another"));
      await waitForHint(() => grow("of another again"));
      if (backend.supports.rewrite) {
        await waitForHint(() => {
          theirs.redactEntry("000000a1");
          return theirs.flush();
        });
      }
      await waitForHint(() => backend.append("one", [line("000000a2")]));
      early.abort();
      const before = earlyCalls;
      await waitForHint(() => backend.append("one", [line("000000a3")]));
      assert.equal(earlyCalls, before, "no listener is called after the signal aborts");
      end.abort();
    },
  ),
  test("returns the position of the first line of a partly stored batch, and adds the rest at the end", async ({
    backend,
  }) => {
    const { lastSeq } = await make(backend, "one");
    const [known, fresh] = [line("000000a1"), line("000000a2", "000000a1")];
    await backend.append("one", [known]);
    const foreign = await backend.append("one", [line("000000b1")]);
    const receipt = await backend.append("one", [known, fresh]);
    assert.deepEqual(
      await readTexts(backend, "one"),
      [known, line("000000b1"), fresh].map(({ text }) => text),
    );
    const last = (await readLines(backend, "one")).at(-1)?.seq;
    assert.equal(receipt.precedingSeq, lastSeq, "precedingSeq is the line before the stored line");
    assert.equal(receipt.lastSeq, last, "lastSeq is the added line");
    assert.ok(receipt.lastSeq > foreign.lastSeq);
  }),
  test("hides a session that is being created, and lets only one of two creators succeed", async ({
    backend,
  }) => {
    let meanwhile: () => Promise<unknown> = async () => undefined;
    const paused = async function* () {
      yield [{ text: makeHeaderLine("one") }];
      yield [line("000000a1")];
      await meanwhile();
      yield [line("000000a2", "000000a1")];
    };
    meanwhile = async () => {
      await expectError("SESSION_NOT_FOUND", () => backend.read("one", 0, 10));
      assert.deepEqual(await backend.list({ limit: 10 }), []);
      await make(backend, "one", line("000000b1"));
    };
    await expectError("SESSION_EXISTS", () => backend.create(facts("one"), paused()));
    assert.deepEqual(await readTexts(backend, "one"), [line("000000b1").text]);
    assert.equal((await backend.list({ limit: 10 })).length, 1);
  }),
  test("retains nothing from a deleted session", async ({ backend }) => {
    const batch = [line("000000a1", null, "the needle"), line("000000a2", "000000a1", "the needle")];
    await make(backend, "one");
    await backend.append("one", batch);
    assert.equal(await backend.delete("one"), true);
    assert.equal(await backend.delete("one"), false);
    await expectError("SESSION_NOT_FOUND", () => backend.append("one", batch));
    assert.deepEqual(await backend.search?.({ words: ["needle"], limit: 10 }), backend.search && []);
    const { lastSeq } = await make(backend, "one");
    assert.deepEqual(await readTexts(backend, "one"), []);
    if (backend.supports.conditionalAppend) {
      await expectError("STALE_LEAF", () => backend.append("one", batch, { expectedLeafId: "000000a2" }));
    }
    const condition = backend.supports.conditionalAppend ? { expectedLeafId: null } : {};
    const receipt = await backend.append("one", batch, condition);
    assert.equal(receipt.precedingSeq, lastSeq);
    assert.deepEqual(
      await readTexts(backend, "one"),
      batch.map(({ text }) => text),
    );
    assert.equal((await backend.list({ limit: 10 }))[0]?.messageCount, 2);
  }),
  test("compares the leaf with the remaining lines after other lines were removed", async ({ backend }) => {
    const { amend } = backend;
    if (amend === undefined || !backend.supports.conditionalAppend) return;
    await make(backend, "one", line("000000a1"), line("000000a2", "000000a1"));
    const last = (await readLines(backend, "one")).at(-1)?.seq ?? 0;
    const change = { expectedRevision: 0, replace: [], remove: [last], append: [], facts: {} };
    assert.notEqual(await amend.call(backend, "one", change), undefined);
    const append = (id: string, expectedLeafId: string) =>
      backend.append("one", [line(id)], { expectedLeafId });
    await expectError("STALE_LEAF", () => append("000000a3", "000000a2"));
    await append("000000a3", "000000a1");
    // A removed line is no longer stored, so it is added when it is sent again.
    await backend.append("one", [line("000000a2", "000000a1")]);
    assert.equal((await readTexts(backend, "one")).length, 3);
  }),
  test("adds and returns nothing after a missing line", async ({ backend }) => {
    const first = line("000000a1");
    const { lastSeq } = await make(backend, "one", first);
    const next = line("000000a2", "000000a1");
    const append = (afterSeq: number, afterEntryId?: string) =>
      backend.append("one", [next], { afterSeq, ...(afterEntryId !== undefined && { afterEntryId }) });
    await expectError("WRITES_LOST", () => append(lastSeq + 1_000));
    await expectError("WRITES_LOST", () => append(lastSeq + 1_000, "000000a1"));
    await expectError("WRITES_LOST", () => append(lastSeq, "000000ff"));
    await expectError("WRITES_LOST", () => backend.read("one", lastSeq, 10, "000000ff"));
    await expectError("WRITES_LOST", () => backend.read("one", lastSeq + 1_000, 10, "000000a1"));
    assert.deepEqual(await readTexts(backend, "one"), [first.text]);
    const receipt = await append(lastSeq, "000000a1");
    assert.equal(receipt.precedingSeq, lastSeq);
    assert.deepEqual(await append(lastSeq, "000000a1"), receipt, "what is sent again is there once");
    await backend.append("one", [line("000000b1")], { afterSeq: receipt.lastSeq });
    assert.deepEqual(await append(lastSeq), receipt, "any line is accepted as the known line");
    assert.equal((await readTexts(backend, "one")).length, 3);
    const [behind] = (await backend.read("one", lastSeq, 10, "000000a1")).lines;
    assert.equal(behind?.text, next.text);
  }),
  test("skips positions before added lines as requested, and does not treat them as lines", async ({
    backend,
  }) => {
    const { lastSeq } = await make(backend, "one", line("000000a1"));
    const batch = [line("000000a2", "000000a1"), line("000000a3", "000000a2")];
    const receipt = await backend.append("one", batch, { afterSeq: lastSeq, gap: 1_000 });
    assert.equal(receipt.precedingSeq, lastSeq, "precedingSeq is the line before the gap");
    const [, , second, third] = await readLines(backend, "one");
    assert.ok((second?.seq ?? 0) > lastSeq + 1_000, "the gap is before the first added line");
    assert.equal(receipt.lastSeq, third?.seq);
    assert.deepEqual(
      await backend.append("one", batch, { gap: 7 }),
      receipt,
      "what is sent again is there once",
    );
    const inGap = { afterSeq: lastSeq + 500 };
    await expectError("WRITES_LOST", () => backend.append("one", [line("000000a4")], inGap));
    assert.deepEqual((await backend.read("one", inGap.afterSeq, 1)).lines, [second]);
    const next = await backend.append("one", [line("000000a4")], { afterSeq: receipt.lastSeq, gap: 2 ** 24 });
    assert.equal(next.precedingSeq, receipt.lastSeq);
    assert.ok(next.lastSeq > receipt.lastSeq + 2 ** 24);
    assert.equal((await readTexts(backend, "one")).length, 4);
  }),
  test("creates a session with the id of a deleted session at a greater revision, and records the deletion", async ({
    backend,
  }) => {
    await make(backend, "one", line("000000a1"));
    let revision = -1;
    for (let i = 0; i < 3; i++) {
      const now = (await backend.read("one", 0, 1)).revision;
      assert.ok(now > revision, `${now} is greater than ${revision}`);
      revision = now;
      await backend.delete("one");
      const append = () => backend.append("one", [line("000000a2")], { afterSeq: 2 });
      await expectError("SESSION_NOT_FOUND", append);
      const receipt = await make(backend, "one", line("000000a1"));
      assert.equal(receipt.revision, (await backend.read("one", 0, 1)).revision);
    }
  }),
  test("can be closed more than once", async ({ backend }) => {
    await backend.close();
    await backend.close();
  }),
];
