import type { SessionManager } from "sessiontree";
import { remoteStore } from "sessiontree/stores";
import { expect, test } from "vitest";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import fc from "../../support/fast-check.ts";
import { overBackend } from "../support/over-backend.ts";

const QUICK = { minRetryMs: 0, maxRetryMs: 0, pollMs: 1, giveUpAfterMs: 60_000 };

/** Outcome of a call: it works, is never made, or its answer is lost. */
const fate = fc.constantFrom(...(["works", "works", "fails", "is lost"] as const));

type Fate = typeof fate extends fc.Arbitrary<infer T> ? T : never;

const step = fc.record({
  writer: fc.nat(2),
  what: fc.constantFrom(
    ...(["say", "say", "say", "many", "condition", "redact", "branch", "pull", "pause", "pause"] as const),
  ),
  at: fc.nat(50),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Calls to a backend with outcomes given one by one, and pages of very few lines. */
function doomed(memory: MemoryBackend, fates: readonly Fate[], pageLines: number) {
  let at = 0;
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    const fate = fates[at++] ?? "works";
    if (fate === "fails") throw new Error("the connection failed");
    // Other calls run between a call and its answer.
    await new Promise((resolve) => setImmediate(resolve));
    const answer = await call();
    await new Promise((resolve) => setImmediate(resolve));
    if (fate === "is lost") throw new Error("the answer was lost");
    return answer;
  };
  return overBackend(memory, {
    read: (id, afterSeq, limit, entryId) =>
      through(() => memory.read(id, afterSeq, Math.min(limit, pageLines), entryId)),
    append: (...given) =>
      through(async () => {
        await expectNewBehind(memory, ...given);
        return memory.append(...given);
      }),
    amend: (...given) => through(() => memory.amend(...given)),
    create: (...given) => through(() => memory.create(...given)),
  });
}

/** Checks a backend's precondition: lines after the caller's last known one are not stored already. */
async function expectNewBehind(
  memory: MemoryBackend,
  ...[id, lines, condition]: Parameters<MemoryBackend["append"]>
) {
  const { afterSeq = 0 } = condition ?? {};
  const { lines: stored } = await memory.read(id, 0, 1_000);
  const known = new Set(stored.filter(({ seq }) => seq <= afterSeq).map(({ text }) => text));
  expect(lines.filter(({ text }) => known.has(text))).toEqual([]);
}

async function take(session: SessionManager, { what, at }: Step): Promise<void> {
  const entries = session.getEntries();
  const id = entries[at % Math.max(1, entries.length)]?.id;
  const say = (text: string) => session.appendMessage({ role: "user", content: text, timestamp: at });
  if (what === "say") say(`secret ${at}`);
  if (what === "many") for (let i = 0; i < 7; i++) say(`many ${i}`);
  if (what === "redact" && id !== undefined) session.redactEntry(id);
  if (what === "branch" && id !== undefined) session.branch(id);
  if (what === "pull") await session.refreshAsync();
  if (what === "pause")
    for (let i = 0; i <= at % 4; i++) await new Promise((resolve) => setImmediate(resolve));
  if (what === "condition") {
    await session.appendIfLeaf({ type: "custom", customType: "x", data: at }).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "STALE_LEAF" });
    });
  }
}

test("nothing is missing, duplicated, or restored with pages of few lines, failed calls, and lost answers", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      fc.array(fc.array(fate, { maxLength: 30 }), { minLength: 3, maxLength: 3 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, fates, pageLines) => {
        const memory = new MemoryBackend();
        const [mine = [], ...others] = fates;
        const appended = new Set<string>();
        const redacted = new Set<string>();
        const first = remoteStore(doomed(memory, mine, pageLines), QUICK).create({ cwd: "/projects/x" });
        first.appendMessage({ role: "user", content: "root", timestamp: 0 });
        await first.flush();
        const id = first.getSessionId();
        const sessions = [first];
        for (const one of others)
          sessions.push(await remoteStore(doomed(memory, one, pageLines), QUICK).open(id));
        for (const session of sessions) session.on("entry_appended", ({ entry }) => appended.add(entry.id));
        const work: Promise<void>[] = [];
        for (const one of steps) {
          const session = sessions[one.writer];
          if (session === undefined) continue;
          const before = session.getEntries();
          if (one.what === "redact") redacted.add(before[one.at % before.length]?.id ?? "");
          work.push(take(session, one));
          if (one.what === "pause") await work.at(-1);
        }
        await Promise.all(work);
        for (const session of sessions) await session.flush();
        const fresh = await remoteStore(memory).open(id);
        const entries = fresh.getEntries();
        const ids = entries.map((entry) => entry.id);
        expect(new Set(ids).size).toBe(ids.length);
        for (const one of appended) expect(ids).toContain(one);
        expect(fresh.issues).toEqual([]);
        const { lines } = await memory.read(id, 0, 1_000);
        expect(lines.length).toBe(entries.length + 1);
        for (const entry of entries) {
          if (redacted.has(entry.id)) expect(JSON.stringify(entry)).not.toMatch(/secret|many|"data":\d/);
        }
        for (const session of sessions) {
          await session.refreshAsync();
          expect(session.getEntries()).toEqual(entries);
          for (const one of ids) expect(session.getPathIds(one)).toEqual(fresh.getPathIds(one));
          fresh.branch(session.getLeafId() ?? "");
          expect(session.buildSessionContext()).toEqual(fresh.buildSessionContext());
        }
      },
    ),
    { numRuns: 200 },
  );
});
