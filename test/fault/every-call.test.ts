import { existsSync } from "node:fs";
import { join } from "node:path";
import { isSessionError, repairSession, type SessionIssue, SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { sampledCalls } from "../support/share.ts";
import { type Fault, type FaultyFileSystem, type FileSystem, faultyFs } from "./support/faulty-fs.ts";
import { litter, names, place, sandbox } from "./support/sandbox.ts";
import { BRANCHED, DAMAGED, getIds, NOW, onDisk, user, VERSION_1, view } from "./support/sessions.ts";

/** Operation on a session's file, through a file system that may fail. */
interface Operation {
  readonly name: string;
  /** Content of `s.jsonl` before the operation; no file by default. */
  readonly file?: string;
  /** Files of the folder after success or failure, including the written one. */
  readonly leaves: RegExp;
  run(attempt: Attempt): void;
}

/** One attempt of an operation. */
class Attempt {
  readonly folder = sandbox();
  readonly path = join(this.folder, "s.jsonl");
  /** Ids of entries whose append has returned. */
  readonly acknowledged: string[] = [];
  readonly states: string[] = [];
  session: SessionManager | undefined;
  readonly fs: FileSystem;

  constructor({ fs }: FaultyFileSystem, file: string | undefined) {
    this.fs = fs;
    if (file !== undefined) place(this.folder, "s.jsonl", file);
  }

  get options() {
    return { sessionDir: this.folder, fs: this.fs, now: () => NOW };
  }

  /** Uses a session from here on. */
  use(session: SessionManager): SessionManager {
    session.on("persistence_state", ({ state }) => this.states.push(state));
    this.session = session;
    return session;
  }

  say(text: string): void {
    if (this.session !== undefined) this.acknowledged.push(this.session.appendMessage(user(text)));
  }
}

const SESSION = /^[^.].*\.jsonl$/;

const operations: readonly Operation[] = [
  {
    name: "creating",
    leaves: SESSION,
    run(attempt) {
      const session = attempt.use(SessionManager.create("/project", attempt.options));
      session.appendModelChange("acme", "m1");
      attempt.say("one");
      attempt.say("two");
    },
  },
  {
    name: "creating durably, with a lease",
    leaves: SESSION,
    run(attempt) {
      const options = { ...attempt.options, durability: "fsync" as const, lease: "fail" as const };
      attempt.use(SessionManager.create("/project", options));
      attempt.say("one");
    },
  },
  {
    name: "beginning in an empty file",
    file: "",
    leaves: SESSION,
    run(attempt) {
      attempt.use(SessionManager.open(attempt.path, attempt.options));
      attempt.say("one");
    },
  },
  {
    name: "appending",
    file: BRANCHED,
    leaves: SESSION,
    run(attempt) {
      attempt.use(SessionManager.open(attempt.path, attempt.options));
      for (const text of ["one", "two", "three"]) attempt.say(text);
    },
  },
  {
    name: "appending several at once",
    file: BRANCHED,
    leaves: SESSION,
    run(attempt) {
      const session = attempt.use(SessionManager.open(attempt.path, attempt.options));
      const drafts = ["one", "two", "three"].map((text) => ({
        type: "message" as const,
        message: user(text),
      }));
      attempt.acknowledged.push(
        ...session.appendAll(drafts),
        ...session.appendAll(drafts, { parentId: null }),
      );
    },
  },
  {
    name: "appending durably after a torn line",
    file: DAMAGED,
    leaves: /^s\.jsonl(\.v3\.bak)?$/,
    run(attempt) {
      attempt.use(SessionManager.open(attempt.path, { ...attempt.options, durability: "fsync" }));
      attempt.say("one");
      attempt.say("two");
    },
  },
  {
    name: "upgrading",
    file: VERSION_1,
    leaves: /^s\.jsonl(\.v1\.bak)?$/,
    run(attempt) {
      attempt.use(SessionManager.open(attempt.path, attempt.options)).upgrade();
    },
  },
  {
    name: "upgrading by an append",
    file: VERSION_1,
    leaves: /^s\.jsonl(\.v1\.bak)?$/,
    run(attempt) {
      attempt.use(SessionManager.open(attempt.path, attempt.options));
      attempt.say("one");
    },
  },
  {
    name: "forking another session",
    file: VERSION_1,
    leaves: SESSION,
    run(attempt) {
      attempt.use(SessionManager.forkFrom(attempt.path, "/other", attempt.options));
      attempt.say("one");
    },
  },
  {
    name: "branching into a session of its own",
    file: BRANCHED,
    leaves: SESSION,
    run(attempt) {
      const session = attempt.use(SessionManager.open(attempt.path, attempt.options));
      session.createBranchedSession("00000003");
      attempt.say("one");
    },
  },
  {
    name: "redacting",
    file: BRANCHED,
    leaves: SESSION,
    run(attempt) {
      const session = attempt.use(SessionManager.open(attempt.path, attempt.options));
      attempt.acknowledged.push(session.redactEntry("00000002"));
      attempt.say("one");
    },
  },
  {
    name: "reading and refreshing between appends",
    file: BRANCHED,
    leaves: SESSION,
    run(attempt) {
      const session = attempt.use(SessionManager.open(attempt.path, attempt.options));
      session.buildSessionContext();
      attempt.say("one");
      session.refresh();
      session.getTree();
      attempt.say("two");
      session.buildSessionContext();
    },
  },
];

/** Performs an operation with a fault, which is removed afterward, and returns the error. */
function perform(
  operation: Operation,
  fault: Fault,
): { attempt: Attempt; faulty: FaultyFileSystem; error: unknown } {
  const faulty = faultyFs(fault);
  const attempt = new Attempt(faulty, operation.file);
  try {
    operation.run(attempt);
    return { attempt, faulty, error: undefined };
  } catch (error) {
    return { attempt, faulty, error };
  } finally {
    faulty.heal();
  }
}

/** Whether an error or its cause is the injected one. */
function comesFrom(error: unknown, code: string): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("syscall" in at && "code" in at && at.code === code) return true;
  return false;
}

/** Returns the number of file system calls of an operation that succeeds. */
function countCalls(operation: Operation): number {
  const { error, faulty } = perform(operation, { at: Number.POSITIVE_INFINITY, code: "EIO" });
  expect(error).toBeUndefined();
  return faulty.calls;
}

function assertTyped(error: unknown, code: string): void {
  if (error === undefined) return;
  expect(isSessionError(error), String(error)).toBe(true);
  if (code !== "SHORT") expect(comesFrom(error, code), `${String(error)} has its cause`).toBe(true);
}

/** Checks that memory agrees with the disk. */
function assertEqualToDisk({ session, acknowledged }: Attempt): void {
  const path = session?.getSessionFile() ?? "";
  if (session === undefined || !existsSync(path)) return;
  session.refresh();
  expect(getIds(session)).toEqual(expect.arrayContaining(acknowledged));
  expect(view(onDisk(path))).toEqual(view(session));
}

function inOrder(issues: readonly SessionIssue[]): SessionIssue[] {
  return issues.toSorted((a, b) => a.offset - b.offset || a.code.localeCompare(b.code));
}

/** Checks that the session continues after the fault is removed, without losing an acknowledged entry. */
function assertGoesOn(attempt: Attempt): void {
  const { session } = attempt;
  if (session === undefined) return;
  attempt.say("next");
  assertEqualToDisk(attempt);
  expect(inOrder(onDisk(session.getSessionFile() ?? "").issues)).toEqual(inOrder(session.issues));
}

/** The next replacement takes over a lock that could not be released. */
const isNoLock = (name: string) => !name.endsWith(".lease");

/** An old file keeps its hidden name until the next check ensures that its lines are in the new one. */
const isForGood = (name: string) => isNoLock(name) && !name.endsWith(".old");

const single: readonly Omit<Fault, "at">[] = [
  { code: "ENOSPC" },
  { code: "EIO" },
  { code: "EACCES" },
  { code: "ENOSPC", isTorn: true },
  { code: "SHORT" },
];

describe.each(operations)("$name, when one call fails", (operation) => {
  test.each(single)("with %o", (fault) => {
    const calls = countCalls(operation);
    let failures = 0;
    for (const at of sampledCalls(calls)) {
      const { attempt, faulty, error } = perform(operation, { ...fault, at });
      assertTyped(error, fault.code);
      if (error !== undefined) failures++;
      // Files that cannot be removed stay.
      const canRemove = !faulty.failed.includes("unlinkSync");
      if (canRemove) expect(litter(attempt.folder).filter(isForGood), `call ${at}`).toEqual([]);
      for (const name of names(attempt.folder)) {
        if (!canRemove || name.endsWith(".lease") || name.endsWith(".old")) continue;
        expect(name).toMatch(operation.leaves);
        // A finished copy is used or removed.
        const own = [attempt.path, attempt.session?.getSessionFile()];
        if (name.endsWith(".jsonl")) expect(own).toContain(join(attempt.folder, name));
      }
      const wasDegraded = attempt.states.length > 0;
      assertEqualToDisk(attempt);
      assertGoesOn(attempt);
      if (canRemove) expect(litter(attempt.folder).filter(isNoLock), `call ${at}, afterwards`).toEqual([]);
      expect(attempt.states).toEqual(wasDegraded ? ["degraded", "ok"] : []);
    }
    // An operation that no fault affects is not tested at all.
    expect(failures > 0).toBe(fault.code !== "SHORT");
  });

  test.each(["ENOSPC", "EIO"] as const)("and all after it, with %s, until the cause is removed", (code) => {
    const calls = countCalls(operation);
    for (const at of sampledCalls(calls)) {
      const { attempt, error } = perform(operation, { at, code, isLasting: true });
      assertTyped(error, code);
      assertGoesOn(attempt);
    }
  });
});

describe("repairing", () => {
  test.each(single)("fails entirely, with %o at any call", (fault) => {
    const reference = place(sandbox(), "s.jsonl", DAMAGED);
    repairSession(reference);
    const healthy = view(onDisk(reference));
    let outcome = "failed";
    for (let at = 1; ; at++) {
      const folder = sandbox();
      const path = place(folder, "s.jsonl", DAMAGED);
      const before = view(onDisk(path));
      const faulty = faultyFs({ ...fault, at });
      try {
        repairSession(path, { fs: faulty.fs });
        outcome = "repaired";
      } catch (error) {
        assertTyped(error, fault.code);
        outcome = "failed";
      }
      if (faulty.calls < at) break;
      if (!faulty.failed.includes("unlinkSync")) {
        expect(litter(folder).filter(isForGood)).toEqual([]);
      }
      const after = view(onDisk(path));
      expect(outcome === "repaired" ? [healthy] : [healthy, before]).toContainEqual(after);
      repairSession(path);
      expect(view(onDisk(path))).toEqual(healthy);
      expect(litter(folder)).toEqual([]);
    }
    expect(outcome).toBe("repaired");
  });
});
