import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { isSessionError, SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import { MemoryLog } from "../../src/session/log/memory-log.ts";
import { openOverLog } from "../../src/session/manager/session-manager.ts";
import { type Fault, faultyFs } from "../fault/support/faulty-fs.ts";
import { place, sandbox } from "../fault/support/sandbox.ts";
import { header, lines, message, NOW, user } from "../fault/support/sessions.ts";
import { SYSTEMS, systemFs } from "../fault/support/systems.ts";
import fc from "../support/fast-check.ts";
import { moveOver } from "../support/move-over.ts";
import { getMinimum } from "../support/share.ts";

/** Step of the session under test, of another session, of another program, or on the file. */
const step = fc.constantFrom(
  ...(["append", "append", "append", "append three", "context", "refresh", "branch"] as const),
  ...(["other appends", "other redacts", "program appends", "program tears", "program ends line"] as const),
  ...(["program replaces", "wait"] as const),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const fault: fc.Arbitrary<Fault | undefined> = fc.option(
  fc.record({
    at: fc.integer({ min: 15, max: 150 }),
    code: fc.constantFrom("ENOSPC", "EIO", "EACCES", "SHORT"),
    isTorn: fc.boolean(),
  }),
  { nil: undefined },
);

/** Session in use, with its acknowledged entries and its reported events. */
class Used {
  readonly acknowledged: string[] = [];
  readonly told: string[] = [];
  readonly own: string[] = [];
  readonly session: SessionManager;

  constructor(session: SessionManager) {
    this.session = session;
    session.on("entry_appended", ({ entry }) => this.own.push(entry.id));
    session.on("foreign_entries", ({ entries }) => this.told.push(...entries.map(({ id }) => id)));
  }

  append(text: string): void {
    this.acknowledged.push(this.session.appendMessage(user(text)));
    expect(this.session.getLeafId()).toBe(this.acknowledged.at(-1));
  }
}

/** Performs one step. */
function take(one: Step, number: number, tested: Used, other: Used, path: string): void {
  const { session } = tested;
  const text = `text ${number}`;
  if (one === "append") tested.append(text);
  else if (one === "append three") for (let i = 0; i < 3; i++) tested.append(`${text} ${i}`);
  else if (one === "context") session.buildSessionContext();
  else if (one === "refresh") session.refresh();
  else if (one === "branch") session.branch(session.getEntries()[0]?.id ?? "");
  else if (one === "other appends") other.append(text);
  else if (one === "other redacts") {
    const { id } = other.session.getEntries()[0] ?? { id: "" };
    other.acknowledged.push(other.session.redactEntry(id));
  } else if (one === "program appends") {
    appendFileSync(
      path,
      `${endOf(path)}${lines(message(`p${number}`, session.getEntries()[0]?.id ?? null, text))}`,
    );
  } else if (one === "program tears") appendFileSync(path, `${endOf(path)}{"type":"torn ${number}`);
  else if (one === "program ends line") appendFileSync(path, "\n");
  else if (one === "program replaces") {
    writeFileSync(`${path}.new`, readFileSync(path));
    moveOver(`${path}.new`, path);
  } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
}

const endOf = (path: string) => (readFileSync(path, "utf8").endsWith("\n") ? "" : "\n");

/** Returns the entries of a session in an order that does not depend on which session read first. */
const entriesOf = (session: SessionManager) => session.getEntries().sort((a, b) => (a.id < b.id ? -1 : 1));

test.each(SYSTEMS)("%s: whatever happens to its file, a session agrees with the file", (system) => {
  let failures = 0;
  let found = 0;
  const steps = fc.array(step, { minLength: 3, maxLength: 14 });
  fc.assert(
    fc.property(steps, fault, fc.boolean(), (script, given, isCreated) => {
      const folder = sandbox();
      const base = systemFs(system);
      const faulty = faultyFs(given ?? { at: Number.POSITIVE_INFINITY, code: "EIO" }, base);
      const options = { sessionDir: folder, now: () => NOW };
      const before = place(folder, "s.jsonl", lines(header(), message("0000000a", null, "x")));
      const tested = new Used(
        isCreated
          ? SessionManager.create("/project", { ...options, fs: base })
          : SessionManager.open(before, { ...options, fs: faulty.fs }),
      );
      if (isCreated) tested.append("first");
      const path = tested.session.getSessionFile() ?? "";
      const other = new Used(SessionManager.open(path, { ...options, fs: base }));
      for (const [number, one] of script.entries()) {
        try {
          take(one, number, tested, other, path);
        } catch (error) {
          if (!isSessionError(error)) throw error;
          failures++;
        }
      }
      faulty.heal();
      tested.append("at the end");
      tested.session.refresh();
      compareWithFile(tested, other, path);
      if (tested.told.length > 0) found++;
    }),
    { numRuns: 300 },
  );
  // A sample may contain none: few scripts reach the call that fails.
  expect(failures).toBeGreaterThanOrEqual(Math.floor(getMinimum(5)));
  expect(found).toBeGreaterThan(getMinimum(20));
});

/** Compares a session with the memory log over the bytes of its file: the specification. */
function compareWithFile(tested: Used, other: Used, path: string): void {
  const specified = openOverLog(new MemoryLog(readFileSync(path, "utf8")), {});
  expect(entriesOf(tested.session)).toEqual(entriesOf(specified));
  const ids = new Set(specified.getEntries().map(({ id }) => id));
  for (const id of tested.acknowledged) expect(ids.has(id), id).toBe(true);
  other.session.refresh();
  expect(entriesOf(other.session)).toEqual(entriesOf(specified));
  for (const id of other.acknowledged) expect(ids.has(id), id).toBe(true);
  expect(tested.session.buildSessionContext().messages).toEqual(
    contextAt(specified, tested.session.getLeafId()),
  );
  for (const { own, told } of [tested, other]) {
    const all = [...own, ...told];
    expect(new Set(all).size).toBe(all.length);
    for (const id of all) expect(ids.has(id), id).toBe(true);
  }
}

function contextAt(session: SessionManager, leafId: string | null): unknown {
  session.branch(leafId ?? "");
  return session.buildSessionContext().messages;
}
