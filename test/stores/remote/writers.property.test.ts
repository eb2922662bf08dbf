import type { SessionManager } from "sessiontree";
import { remoteStore } from "sessiontree/stores";
import { expect, test } from "vitest";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { faultyBackend } from "../../../src/stores/suite/faulty-backend.ts";
import fc from "../../support/fast-check.ts";

const QUICK = { minRetryMs: 0, maxRetryMs: 0, pollMs: 1 };

const WRITERS = 3;

/** One operation of one of the writers. */
const step = fc.record({
  writer: fc.nat(WRITERS - 1),
  what: fc.constantFrom(
    ...([
      "say",
      "say",
      "say",
      "label",
      "name",
      "branch",
      "redact",
      "flush",
      "pull",
      "pause",
      "condition",
    ] as const),
  ),
  at: fc.nat(1_000),
  failing: fc.nat(2),
  losing: fc.nat(2),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(session: SessionManager, { what, at }: Step): Promise<void> {
  const entries = session.getEntries();
  const { id } = entries[at % entries.length] ?? entries[0] ?? { id: "" };
  if (what === "say") session.appendMessage({ role: "user", content: `text ${at}`, timestamp: at });
  if (what === "label") session.appendLabelChange(id, `label ${at}`);
  if (what === "name") session.appendSessionInfo(`name ${at}`);
  if (what === "branch") session.branch(id);
  if (what === "redact") session.redactEntry(id);
  if (what === "flush") await session.flush();
  if (what === "pull") await session.refreshAsync();
  if (what === "pause") await new Promise((resolve) => setImmediate(resolve));
  if (what === "condition") {
    const draft = { type: "custom" as const, customType: "x", data: at };
    await session.appendIfLeaf(draft).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "STALE_LEAF" });
    });
  }
}

test("all writers finally see the same tree with nothing missing, whatever they do while calls fail", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const memory = new MemoryBackend();
      const first = remoteStore(memory, QUICK).create({ cwd: "/projects/x", id: "shared" });
      first.appendMessage({ role: "user", content: "root", timestamp: 0 });
      await first.flush();
      const writers: { session: SessionManager; faults: ReturnType<typeof faultyBackend>["faults"] }[] = [];
      const appended = new Set<string>();
      for (let i = 0; i < WRITERS; i++) {
        const { backend, faults } = faultyBackend(memory);
        const session = await remoteStore(backend, QUICK).open("shared");
        session.on("entry_appended", ({ entry }) => appended.add(entry.id));
        writers.push({ session, faults });
      }
      const work: Promise<void>[] = [];
      for (const one of steps) {
        const writer = writers[one.writer];
        if (writer === undefined) continue;
        writer.faults.failNext(one.failing);
        writer.faults.loseAnswers(one.losing);
        work.push(take(writer.session, one));
        if (one.what === "pause") await Promise.all(work.splice(0));
      }
      await Promise.all(work);
      for (const { session } of writers) await session.flush();
      const fresh = await remoteStore(memory).open("shared");
      const ids = fresh.getEntries().map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of appended) expect(ids).toContain(id);
      expect(fresh.issues).toEqual([]);
      for (const { session } of writers) {
        await session.refreshAsync();
        expect(session.getEntries()).toEqual(fresh.getEntries());
        expect(session.getSessionName()).toBe(fresh.getSessionName());
        for (const { id } of fresh.getEntries()) {
          expect(session.getLabel(id)).toBe(fresh.getLabel(id));
          expect(session.getPathIds(id)).toEqual(fresh.getPathIds(id));
        }
      }
    }),
    { numRuns: 150 },
  );
});
