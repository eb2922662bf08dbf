import { appendFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import { FileFollower, getFileIdentity } from "../../../src/apps/cli/page/page-server.ts";
import { summarizeFile } from "../../../src/catalog/list/file-summary.ts";
import { Pace } from "../../../src/session/files/time-slices.ts";
import { findFileState, isSameFile, isSameState } from "../../../src/session/fs/file-identity.ts";
import { realFileSystem } from "../../../src/session/fs/file-system.ts";
import { place, sandbox } from "../../fault/support/sandbox.ts";
import { header, lines, message } from "../../fault/support/sessions.ts";
import { useOneFileNumber } from "../../support/one-file-number.ts";
import { overwrite } from "../../support/opened-files.ts";
import { IS_WINDOWS } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const SESSION = lines(
  header(),
  message("0000000a", null, "the secret"),
  message("0000000b", "0000000a", "one more"),
  message("0000000c", "0000000b", "the last line stays as it is"),
);

/** As long as the replaced text, so that every later line keeps its offset. */
const REPLACEMENT = "[redacted]";

/** Redacts twice, so that the system may reuse the first inode number. */
function redactTwice(path: string): void {
  const session = SessionManager.open(path);
  for (const id of ["0000000a", "0000000b"])
    session.redactEntry(id, { replacement: REPLACEMENT.slice(0, id.endsWith("a") ? 10 : 8) });
}

// Windows never reuses a number.
test.skipIf(IS_WINDOWS)("a followed page gets two replacements between two checks", () => {
  useOneFileNumber();
  const path = place(sandbox(), "s.jsonl", SESSION);
  const follower = new FileFollower(path, statSync(path).size, getFileIdentity(path) ?? "");
  appendFileSync(path, lines(message("0000000d", "0000000c", "grown")));
  expect(follower.poll()).toMatchObject({ kind: "grown" });
  redactTwice(path);
  expect(follower.poll()).toEqual({ kind: "replaced" });
});

test.skipIf(IS_WINDOWS)(
  "a session that does not hold its file open reads the result of two redactions",
  () => {
    useOneFileNumber();
    const path = place(sandbox(), "s.jsonl", SESSION);
    const session = SessionManager.open(path);
    expect(JSON.stringify(session.getEntries())).toContain("the secret");
    redactTwice(path);
    session.refresh();
    expect(JSON.stringify(session.getEntries())).not.toContain("the secret");
  },
);

test("a list shows the result of two redactions by another process", async () => {
  useOneFileNumber();
  const path = place(sandbox(), "s.jsonl", SESSION);
  const known = await summarizeFile(path, undefined, new Pace());
  expect(known.summary?.firstMessage).toBe("the secret");
  redactTwice(path);
  const now = await summarizeFile(path, known, new Pace());
  expect(now.summary?.firstMessage).toBe(REPLACEMENT);
});

test.skipIf(IS_WINDOWS)(
  "a system that reports the change time as the birth time does not hide growth",
  () => {
    const [before, after] = [1n, 2n].map((ns) => ({ dev: 1n, ino: 2n, birthtimeNs: ns, ctimeNs: ns }));
    if (before === undefined || after === undefined) throw new TypeError();
    expect(isSameFile(before, after)).toBe(true);
    expect(isSameFile(before, { ...after, ino: 3n })).toBe(false);
    expect(isSameFile({ ...before, ctimeNs: 5n }, after)).toBe(false);
  },
);

test("inode numbers are compared to the last bit", () => {
  const time = { birthtimeNs: 1n, ctimeNs: 2n };
  const [first, second] = [2n ** 60n, 2n ** 60n + 1n];
  expect(Number(first)).toBe(Number(second));
  expect(isSameFile({ dev: 1n, ino: first, ...time }, { dev: 1n, ino: first, ...time })).toBe(true);
  expect(isSameFile({ dev: 1n, ino: first, ...time }, { dev: 1n, ino: second, ...time })).toBe(false);
});

test("a file rewritten in place with the same size and a restored modification time counts as changed", () => {
  const path = join(temporaryFolder(), "a");
  writeFileSync(path, "first");
  utimesSync(path, 1, 1);
  const before = findFileState(realFileSystem, path);
  expect(isSameState(before, findFileState(realFileSystem, path))).toBe(true);
  overwrite(path, "first", "other");
  const now = findFileState(realFileSystem, path);
  expect([now?.size, now?.mtimeNs]).toEqual([before?.size, before?.mtimeNs]);
  expect([isSameFile(before, now), isSameState(before, now)]).toEqual([true, false]);
});
