import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isSessionError, SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { isSampled } from "../support/share.ts";
import { names, sandbox, snapshot } from "./support/sandbox.ts";
import { BRANCHED, DAMAGED, onDisk, user, VERSION_1 } from "./support/sessions.ts";

const fixture = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/${name}.jsonl`, import.meta.url)));

const files: readonly (readonly [string, Buffer])[] = [
  ["branches, a label and a name", Buffer.from(BRANCHED)],
  ["version 1", Buffer.from(VERSION_1)],
  ["damage of many kinds", Buffer.from(DAMAGED)],
  ["v2/hook-message", fixture("v2/hook-message")],
  ["v3/heads-behind", fixture("v3/heads-behind")],
  ["compaction/v3-on-another-branch", fixture("compaction/v3-on-another-branch")],
];

const LF = 0x0a;

/** Returns the entries of a session as strings, for fast comparison. */
const entriesOf = (session: SessionManager) => session.getEntries().map((entry) => JSON.stringify(entry));

/** Opens a file, or returns undefined if it is rejected as not a session. */
function tryOpen(path: string): SessionManager | undefined {
  try {
    return onDisk(path);
  } catch (error) {
    expect(isSessionError(error, "NOT_A_SESSION"), String(error)).toBe(true);
    return undefined;
  }
}

/** Returns the bytes of a file, or of its backup from before an upgrade. */
function original(folder: string): Buffer {
  const backup = names(folder).find((name) => name.endsWith(".bak"));
  return readFileSync(join(folder, backup ?? "s.jsonl"));
}

/** Appends to a file and reads it again. */
function growAndReopen(folder: string, path: string, cut: Buffer, before: readonly string[]): void {
  const session = SessionManager.open(path);
  const leafId = session.getLeafId();
  const id = session.appendMessage(user("new"));
  expect(original(folder).subarray(0, cut.length).equals(cut)).toBe(true);
  expect(entriesOf(session).slice(0, before.length)).toEqual(before);
  const reopened = onDisk(path);
  expect(entriesOf(reopened)).toEqual(expect.arrayContaining(entriesOf(session)));
  expect(reopened.getEntry(id)).toMatchObject({ parentId: leafId, message: user("new") });
  expect(reopened.getLeafId()).toBe(id);
  session.appendMessage(user("newer"));
  expect(onDisk(path).getEntryCount()).toBe(reopened.getEntryCount() + 1);
}

describe.each(files)("%s, cut at every byte of the sample", (_name, bytes) => {
  test("loses the torn line only, and grows", () => {
    const folder = sandbox();
    const path = join(folder, "s.jsonl");
    const full = terminated(path, bytes);
    let whole: string[] = [];
    let refused = 0;
    let refusable = 0;
    for (let end = 1; end <= bytes.length; end++) {
      if (!isSampled(end) && bytes[end - 1] !== LF) continue;
      if (end < bytes.indexOf(LF)) refusable++;
      const cut = bytes.subarray(0, end);
      writeFileSync(path, cut);
      const before = snapshot(path);
      const session = tryOpen(path);
      const entries = session === undefined ? [] : entriesOf(session);
      expect(snapshot(path)).toEqual(before);
      if (entries.slice(0, whole.length).join("\n") !== whole.join("\n")) expect(entries).toEqual(whole);
      // The cut line may be complete but for its line break; nothing is made up.
      expect(full).toEqual(expect.arrayContaining(entries.slice(whole.length)));
      if (session === undefined) refused++;
      else growAndReopen(folder, path, cut, entries);
      if (bytes[end - 1] === LF && session !== undefined) whole = terminated(path, cut);
      for (const name of names(folder)) rmSync(join(folder, name));
    }
    // Only a cut within the header leaves no session.
    expect(refused).toBe(refusable);
    expect(whole.length).toBeGreaterThan(2);
  });
});

/** Returns the entries of a file that ends in a line break. */
function terminated(path: string, cut: Buffer): string[] {
  writeFileSync(path, cut);
  return entriesOf(onDisk(path));
}
