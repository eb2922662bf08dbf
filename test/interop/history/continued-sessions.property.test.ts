import { readFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import { getTexts } from "../../../src/core/context/content-text.ts";
import { getMessageFields } from "../../../src/core/context/entry-fields.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import fc from "../../support/fast-check.ts";
import { assistant, call, toolResult, usage, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { CWD, exportTo, importAll, PROGRAMS } from "./support/continuations.ts";
import { Places } from "./support/places.ts";
import { forget } from "./support/transcript.ts";

beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

/** Texts that programs mistake for their own, repeated texts, and blank texts. */
const said = fc.oneof(
  fc.constantFrom("ok", "go on", "", " ", "/help", "<session_context>", "# AGENTS.md instructions", "é\n{}"),
  fc.string({ maxLength: 8 }),
);

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("user" as const), said }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("answer" as const), said, calls: fc.nat({ max: 2 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("result" as const), said, isError: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const), said, keep: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("branch" as const), to: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("redact" as const), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("name" as const), said }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Creates a session with messages; returns its path. */
async function makeSession(places: Places, steps: readonly Step[]): Promise<string> {
  const session = SessionManager.create(CWD, places.sessions);
  let timestamp = Date.UTC(2026, 10, 22, 5);
  const open: string[] = [];
  session.appendMessage(user("hello", timestamp));
  session.appendMessage(assistant("hi", { timestamp }));
  for (const [at, one] of steps.entries()) {
    timestamp += one.kind === "result" ? 0 : 1000;
    const entries = session.getEntries();
    const pick = (number: number) => entries[number % entries.length]?.id ?? "";
    if (one.kind === "user") session.appendMessage(user(one.said, timestamp));
    else if (one.kind === "answer") {
      const calls = Array.from({ length: one.calls }, (_, n) =>
        call(`c${at}|${n}`, "bash", { cmd: one.said }),
      );
      open.splice(0, open.length, ...calls.map(({ id }) => id));
      session.appendMessage(assistant(one.said, { timestamp, usage: usage(7) }, ...calls));
    } else if (one.kind === "result") {
      const id = open.shift();
      if (id !== undefined) session.appendMessage({ ...toolResult(id, one.said, one.isError), timestamp });
    } else if (one.kind === "compact") session.appendCompaction(`sum ${one.said}`, pick(one.keep), 9);
    else if (one.kind === "branch") session.branch(pick(one.to));
    else if (one.kind === "name") session.appendSessionInfo(one.said);
    else if (entries[one.at % entries.length]?.type === "message") session.redactEntry(pick(one.at));
  }
  session.appendMessage(user("last", timestamp));
  const path = session.getSessionFile() ?? "";
  await session.close();
  return path;
}

test.each(PROGRAMS)("any session returns from %s unchanged, with exactly what was added", async (program) => {
  const whole = fc.boolean();
  const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), whole, async (steps, isWhole) => {
    const places = new Places();
    const path = await makeSession(places, steps);
    const before = readFileSync(path, "utf8");
    const original = SessionManager.open(path, { mode: "read-only" });
    const leafId = original.getLeafId() ?? "";
    const continuation = exportTo(places, program, original, { compacted: isWhole ? "whole" : "context" });
    const all = await importAll(places);
    expect(all.map(({ status }) => status)).toEqual(["unchanged"]);
    expect(readFileSync(path, "utf8")).toBe(before);
    for (const turn of ["one more", "and one"]) {
      continuation.addTurn(turn);
      expect(await importAll(places)).toMatchObject([{ status: "grown" }]);
      const now = readFileSync(path, "utf8");
      forget(places);
      expect(await importAll(places)).toMatchObject([{ status: "unchanged" }]);
      expect(readFileSync(path, "utf8")).toBe(now);
    }
    expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
    const after = SessionManager.open(path, { mode: "read-only" });
    expect(after.issues).toEqual([]);
    const added = after.getEntries().slice(original.getEntries().length);
    const texts = added
      .filter(({ type }) => type === "message")
      .map((entry) => getTexts(getMessageFields(entry).content).join(""));
    expect(texts).toEqual(["one more", "done: one more", "and one", "done: and one"]);
    const branch = after.getBranch().map(({ id }) => id);
    expect(branch.slice(0, branch.indexOf(leafId) + 1)).toEqual(original.getBranch().map(({ id }) => id));
    expect(added.some(({ id }) => id === branch.at(-1))).toBe(true);
    expect(places.files().size).toBe(1);
  });
  await fc.assert(property, { numRuns: 60 });
});
