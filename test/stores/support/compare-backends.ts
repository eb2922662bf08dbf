import { expect } from "vitest";
import { isSessionError } from "../../../src/core/format/errors.ts";
import { getPosition } from "../../../src/stores/contract/select-sessions.ts";
import type { NewEntryLine, SessionBackend } from "../../../src/stores/contract/session-backend.ts";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import fc from "../../support/fast-check.ts";
import { headerLine, makeSessionFacts, messageLine, otherLine, TIME_MS, yieldPieces } from "./lines.ts";

/** One call of a backend. */
type Step = (backend: SessionBackend) => Promise<unknown>;

const describeStep = (step: Step) => step;

const sessionId = fc.constantFrom("a", "b", "B", "_");
const entryId = fc.integer({ min: 1, max: 6 }).map((n) => `0000000${n}`);
const cwd = fc.constantFrom("/one", "/two");

const line: fc.Arbitrary<NewEntryLine> = fc.oneof(
  fc
    .tuple(entryId, fc.constantFrom("", "Needle", "hay needles"), fc.integer({ min: -5, max: 5 }))
    .map(([id, content, ms]) => messageLine(id, null, content, TIME_MS + ms)),
  fc
    .tuple(
      fc.constantFrom("label", "session_info", "usage", "tomorrow"),
      entryId,
      fc.constantFrom("", "Name", "n%"),
    )
    .map(([type, id, name]) => otherLine(type, id, { name })),
);

/** Lines with their own ids: the content of one append of this library. */
const lines = fc.uniqueArray(line, { maxLength: 4, selector: ({ entry }) => entry.id });

const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(sessionId, cwd, lines)
    .map(([id, folder, more]) =>
      describeStep((backend) =>
        backend.create(makeSessionFacts(id, { cwd: folder }), yieldPieces([headerLine(id)], more)),
      ),
    ),
  {
    weight: 4,
    arbitrary: fc
      .tuple(sessionId, lines, fc.nat(3))
      .map(([id, more, gap]) => describeStep((backend) => backend.append(id, more, { gap }))),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(sessionId, lines, fc.option(entryId))
      .map(([id, more, expectedLeafId]) =>
        describeStep((backend) => backend.append(id, more, { expectedLeafId })),
      ),
  },
  fc
    .record({
      id: sessionId,
      expectedRevision: fc.integer({ min: 0, max: 2 }),
      replace: fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 5 }), line), {
        maxLength: 2,
        selector: ([seq]) => seq,
      }),
      remove: fc.array(fc.integer({ min: 6, max: 12 }), { maxLength: 2 }),
      append: lines,
      facts: fc.record(
        { name: fc.option(fc.constant("New")), firstMessage: fc.option(fc.constant("x")) },
        { requiredKeys: [] },
      ),
    })
    .map(({ id, replace, ...change }) => {
      const replaced = replace.map(([seq, one]) => ({ seq, line: one }));
      return describeStep(async (backend) => backend.amend?.(id, { ...change, replace: replaced }));
    }),
  fc
    .tuple(sessionId, fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 9 }))
    .map(([id, after, limit]) => describeStep((backend) => backend.read(id, after, limit))),
  sessionId.map((id) => describeStep((backend) => backend.delete(id))),
);

/** Returns everything that a backend can be queried for. */
async function readState(backend: SessionBackend): Promise<unknown> {
  const listed = await backend.list({ limit: 100 });
  const read = await Promise.all(listed.map(({ id }) => backend.read(id, 0, 1_000)));
  const pages = [];
  for (const facts of listed) pages.push(await backend.list({ limit: 2, after: getPosition(facts) }));
  const queries = [{ cwd: "/one" }, { name: "NAME" }, { name: "%" }, { idPrefix: "_" }, { idPrefix: "b" }];
  const found = await Promise.all(queries.map((query) => backend.list({ ...query, limit: 100 })));
  const hits = (await backend.search?.({ words: ["NEEDLE"], limit: 3 })) ?? [];
  const last = hits.at(-1);
  const after = last && { sessionId: last.session.id, seq: last.line.seq };
  const more = after && (await backend.search?.({ words: ["needle", "hay"], limit: 9, after, cwd: "/two" }));
  const bare = {
    read: read.map(({ lines: all, ...page }) => ({ ...page, lines: all.map(bareLine) })),
    pages,
    found,
  };
  const bareHits = [hits, more].map((some) => some?.map((hit) => ({ ...hit, line: bareLine(hit.line) })));
  return { listed, ...bare, bareHits };
}

/** Returns the compared fields of a line: a backend may return more. */
const bareLine = ({ seq, text }: { seq: number; text: string }) => ({ seq, text });

/** Returns a call's outcome: a value, or the code of an error. */
async function catchOutcome(backend: SessionBackend, one: Step): Promise<unknown> {
  try {
    const given = await one(backend);
    return JSON.parse(JSON.stringify(given ?? null), (key, value) => (key === "entry" ? undefined : value));
  } catch (error) {
    if (!isSessionError(error)) throw error;
    return error.code;
  }
}

/**
 * Makes the same calls to a backend and to the one in memory, and compares the outcomes.
 *
 * @param clear - Removes all sessions.
 */
export async function compareWithMemory(
  backend: SessionBackend,
  clear: () => Promise<unknown>,
  numRuns: number,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      await clear();
      const memory = new MemoryBackend();
      const begin = ["a", "b", "B"].map((id) =>
        describeStep((one) =>
          one.create(makeSessionFacts(id, { cwd: "/two" }), yieldPieces([headerLine(id)])),
        ),
      );
      for (const one of [...begin, ...steps])
        expect(await catchOutcome(backend, one)).toEqual(await catchOutcome(memory, one));
      expect(await readState(backend)).toEqual(await readState(memory));
    }),
    { numRuns },
  );
}
