import {
  convertToLlm,
  isSessionError,
  repairToolPairs,
  type SessionEntry,
  SessionManager,
} from "sessiontree";
import { expect, test } from "vitest";
import fc from "../../support/fast-check.ts";
import { assistant, call, tokens, toolResult, user } from "../../support/messages.ts";
import { deferred, stage } from "./support/stage.ts";

/** Next step, taken while earlier ones are still running. */
type Step =
  | { do: "turn"; tools: boolean }
  | { do: "compact" }
  | { do: "compactIfNeeded" }
  | { do: "navigate"; to: number; summarize: boolean }
  | { do: "fork"; at: number }
  | { do: "answer"; well: boolean }
  | { do: "abort" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("turn" as const), tools: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("compact" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("compactIfNeeded" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("navigate" as const), to: fc.nat(99), summarize: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fork" as const), at: fc.nat(99) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("answer" as const), well: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("abort" as const) }) },
);

/** Waits until every step that can continue has continued. */
async function settle(): Promise<void> {
  for (let i = 0; i < 30; i++) await Promise.resolve();
}

/** Returns the ids of messages in the context of a branch, or summarized by its compactions. */
function accountedFor(session: SessionManager): Set<string> {
  const branch = session.getBranch();
  const ids = new Set(session.buildSessionProjection().entries.map(({ sourceEntry }) => sourceEntry.id));
  const compaction = branch.findLast(
    (entry): entry is SessionEntry & { type: "compaction" } => entry.type === "compaction",
  );
  const keptAt = branch.findIndex(({ id }) => id === compaction?.firstKeptEntryId);
  for (const { id } of branch.slice(0, Math.max(0, keptAt))) ids.add(id);
  return ids;
}

test("concurrent commands in any order lose nothing, tear nothing, and end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { controller, writer, seen } = stage({ session: SessionManager.inMemory("/project") });
      const waiting: ReturnType<typeof deferred<{ text: string }>>[] = [];
      writer.reply = () => {
        const reply = deferred<{ text: string }>();
        waiting.push(reply);
        return reply.promise;
      };
      const begun: Promise<unknown>[] = [];
      const written = new Map<SessionManager, Set<string>>();
      let abort = new AbortController();
      const note = (id: string) => {
        const { session } = controller;
        written.set(session, (written.get(session) ?? new Set()).add(id));
      };
      const pick = (at: number) => {
        const entries = controller.session.getEntries();
        return entries[at % Math.max(1, entries.length)]?.id;
      };
      const take = (one: Step) => {
        const { session } = controller;
        const { signal } = abort;
        switch (one.do) {
          case "turn":
            note(session.appendMessage(user(tokens(30))));
            if (one.tools) {
              note(session.appendMessage(assistant("", {}, call(`c${session.getEntryCount()}`))));
              note(session.appendMessage(toolResult(`c${session.getEntryCount() - 1}`, tokens(30))));
            }
            note(session.appendMessage(assistant(tokens(30))));
            break;
          case "compact":
            begun.push(controller.compact({ signal }));
            break;
          case "compactIfNeeded":
            begun.push(controller.compactIfNeeded({ contextWindow: 250, signal }));
            break;
          case "navigate": {
            const target = pick(one.to);
            if (target !== undefined) {
              begun.push(controller.navigateTree(target, { summarize: one.summarize, signal }));
            }
            break;
          }
          case "fork": {
            const entryId = pick(one.at);
            if (entryId !== undefined) begun.push(controller.fork(entryId, { position: "at" }));
            break;
          }
          case "answer":
            waiting.shift()?.resolve({ text: one.well ? "Notes." : "" });
            break;
          case "abort":
            abort.abort();
            abort = new AbortController();
            break;
        }
      };
      for (const one of steps) {
        take(one);
        await settle();
      }
      // Answers everything that waits for a model; the commands blocked by it continue.
      for (let i = 0; i < 2 * begun.length + 1; i++) {
        while (waiting.length > 0) waiting.shift()?.resolve({ text: "Notes." });
        await settle();
      }
      const outcomes = await Promise.allSettled(begun);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(isSessionError(outcome.reason)).toBe(true);
      }
      for (const [session, ids] of written) {
        for (const id of ids) expect(session.getEntry(id)).toBeDefined();
        for (const leaf of session.getLeaves()) {
          session.branch(leaf.id);
          const { messages } = session.buildSessionContext();
          expect(repairToolPairs(convertToLlm(messages, { repairToolPairs: true })).repairs).toEqual([]);
          const accounted = accountedFor(session);
          for (const { id, type } of session.getBranch()) {
            if (type === "message") expect(accounted).toContain(id);
          }
        }
      }
      const count = (name: string) => seen.filter(([one]) => one === name).length;
      expect(count("session_before_compact")).toBe(
        count("session_compact") + count("session_compact_failed"),
      );
    }),
    { numRuns: 150 },
  );
});
