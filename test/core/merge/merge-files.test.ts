import * as nodeFs from "node:fs";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isSessionError, repairSession, SessionManager } from "sessiontree";
import { mergeSessions } from "sessiontree/catalog";
import { expect, test } from "vitest";
import { faultyFs } from "../../fault/support/faulty-fs.ts";
import { litter } from "../../fault/support/sandbox.ts";
import { IS_WINDOWS } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { HEADER, joinFile, merged, said } from "./support/lines.ts";

const root = said("00000001", null, 1);
const left = joinFile(root, said("00000002", "00000001", 2, "left"));
const right = joinFile(root, said("00000003", "00000001", 3, "right"));
const both = merged(left, right).text;

/** Writes two copies to a separate folder. */
function copies(a = left, b = right) {
  const folder = temporaryFolder();
  const [pathA, pathB, to] = [
    join(folder, "a.jsonl"),
    join(folder, "b.jsonl"),
    join(folder, "new", "both.jsonl"),
  ];
  writeFileSync(pathA, a);
  writeFileSync(pathB, b);
  return { folder, a: pathA, b: pathB, to };
}

// Windows ignores modes, and links require a privilege there.
test.skipIf(IS_WINDOWS)("writes a third file with mode 0600, and keeps both copies", () => {
  const { a, b, to } = copies();
  const result = mergeSessions(a, b, { to });
  expect(result).toMatchObject({ path: to, sessionId: "s1", entries: 3, onlyInA: 1, onlyInB: 1, inBoth: 1 });
  expect(result).not.toHaveProperty("backup");
  expect(readFileSync(to, "utf8")).toBe(both);
  expect(statSync(to).mode & 0o777).toBe(0o600);
  expect([readFileSync(a, "utf8"), readFileSync(b, "utf8")]).toEqual([left, right]);
});

test("the result opens at its last entry, has the contexts of both, and can be continued", () => {
  const { a, b, to } = copies();
  mergeSessions(a, b, { to });
  expect(repairSession(to, { isDryRun: true }).actions).toEqual([]);
  const session = SessionManager.open(to);
  expect(session.issues).toEqual([]);
  expect(session.getLeafId()).toBe("00000003");
  for (const [copy, leaf] of [
    [a, "00000002"],
    [b, "00000003"],
  ] as const) {
    session.branch(leaf);
    expect(session.buildSessionContext()).toEqual(
      SessionManager.open(copy, { mode: "read-only" }).buildSessionContext(),
    );
  }
  expect(session.appendMessage({ role: "user", content: "on", timestamp: 1 })).toBe(session.getLeafId());
});

// Windows ignores modes, and links require a privilege there.
test.skipIf(IS_WINDOWS)("overwrites nothing, not even a dangling link", () => {
  const { a, b, folder } = copies();
  const link = join(folder, "link.jsonl");
  nodeFs.symlinkSync(join(folder, "nowhere"), link);
  for (const to of [a, link]) {
    expect(() => mergeSessions(a, b, { to })).toThrow(expect.objectContaining({ code: "SESSION_EXISTS" }));
  }
  expect(readFileSync(a, "utf8")).toBe(left);
  expect(readdirSync(folder).sort()).toEqual(["a.jsonl", "b.jsonl", "link.jsonl"]);
});

// Windows ignores modes, and links require a privilege there.
test.skipIf(IS_WINDOWS)(
  "in place, the first copy is kept next to the merged one, which has its permissions",
  () => {
    const { a, b } = copies();
    nodeFs.chmodSync(a, 0o640);
    const { path, backup } = mergeSessions(a, b, { inPlace: true });
    expect([path, backup]).toEqual([a, `${a}.bak`]);
    expect(readFileSync(a, "utf8")).toBe(both);
    expect(readFileSync(`${a}.bak`, "utf8")).toBe(left);
    expect(statSync(a).mode & 0o777).toBe(0o640);
  },
);

test("in place, nothing is written if the second copy has nothing new", () => {
  const { a, b, folder } = copies(both, right);
  const before = statSync(a);
  expect(mergeSessions(a, b, { inPlace: true })).toMatchObject({ path: a, onlyInB: 0 });
  expect(statSync(a).ino).toBe(before.ino);
  expect(readdirSync(folder).sort()).toEqual(["a.jsonl", "b.jsonl"]);
});

test("in place, copies with a conflict that was resolved before are not written, either", () => {
  const other = joinFile(root, said("00000002", "00000001", 5, "other"), said("00000004", "00000002", 6));
  const { a, b, folder } = copies(left, other);
  mergeSessions(a, b, { inPlace: true });
  const before = statSync(a);
  expect(mergeSessions(a, b, { inPlace: true })).toMatchObject({ path: a, onlyInB: 0 });
  expect(statSync(a).ino).toBe(before.ino);
  expect(readdirSync(folder).sort()).toEqual(["a.jsonl", "a.jsonl.bak", "b.jsonl"]);
});

test("in place, entries that another process appends in the meantime are kept", () => {
  const { a, b, folder } = copies();
  let late = "";
  const fs = {
    ...nodeFs,
    fsyncSync: (fd: number) => {
      if (late === "") {
        late = `${JSON.stringify(said("00000009", "00000002", 9))}\n`;
        appendFileSync(a, late);
      }
      nodeFs.fsyncSync(fd);
    },
  };
  mergeSessions(a, b, { inPlace: true, fs });
  expect(readFileSync(a, "utf8")).toBe(both + late);
  expect(readdirSync(folder).sort()).toEqual(["a.jsonl", "a.jsonl.bak", "b.jsonl"]);
});

test("a session that is open elsewhere continues after the merge", () => {
  const { a, b } = copies();
  const open = SessionManager.open(a);
  mergeSessions(a, b, { inPlace: true });
  const id = open.appendMessage({ role: "user", content: "still here", timestamp: 1 });
  const again = SessionManager.open(a, { mode: "read-only" });
  expect(again.getPathIds(id)).toEqual(["00000001", "00000002", id]);
  expect(again.getEntry("00000003")).toBeDefined();
});

test("files that cannot be merged are rejected, and no file remains", () => {
  const { a, folder } = copies();
  const other = join(folder, "other.jsonl");
  const refused = (content: string | undefined, code: string) => {
    if (content === undefined) rmSync(other, { force: true });
    else writeFileSync(other, content);
    const to = join(folder, "out.jsonl");
    for (const [one, two] of [
      [a, other],
      [other, a],
    ] as const) {
      expect(() => mergeSessions(one, two, { to })).toThrow(expect.objectContaining({ code }));
      expect(() => mergeSessions(one, two, { inPlace: true })).toThrow(expect.objectContaining({ code }));
    }
    expect(existsSync(to)).toBe(false);
    expect(readFileSync(a, "utf8")).toBe(left);
  };
  refused(undefined, "SESSION_NOT_FOUND");
  refused("", "NOT_A_SESSION");
  refused("something else\n", "NOT_A_SESSION");
  refused(`${JSON.stringify({ ...HEADER, id: "s2" })}\n`, "SESSIONS_DIFFER");
  refused(`${JSON.stringify({ ...HEADER, version: 9 })}\n`, "VERSION_TOO_NEW");
  expect(() => mergeSessions(a, folder, { inPlace: true })).toThrow(
    expect.objectContaining({ code: "NOT_A_SESSION" }),
  );
});

test("after any failed call, the copies are unchanged or merged, and no other file remains", () => {
  for (const inPlace of [false, true]) {
    let failures = 0;
    for (let at = 1; ; at++) {
      const { a, b, to, folder } = copies();
      const faulty = faultyFs({ at, code: "EIO" });
      try {
        mergeSessions(a, b, inPlace ? { inPlace, fs: faulty.fs } : { to, fs: faulty.fs });
        if (faulty.failed.length === 0) break;
      } catch (error) {
        failures++;
        expect(isSessionError(error)).toBe(true);
      }
      expect(readFileSync(b, "utf8")).toBe(right);
      expect([left, both]).toContain(readFileSync(a, "utf8"));
      if (existsSync(to)) expect(readFileSync(to, "utf8")).toBe(both);
      // The next replacement removes a file that could not be removed.
      if (litter(folder).length > 0) SessionManager.open(a).redactEntry("00000001");
      expect(litter(folder)).toEqual([]);
    }
    expect(failures).toBeGreaterThan(10);
  }
});
