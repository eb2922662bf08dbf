import { appendFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { FileLog } from "../../src/session/log/file-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type FileSystem, watchedFs } from "./support/faulty-fs.ts";

let folder = "";
let path = "";

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, "a.jsonl");
});

const timestamp = "2026-01-01T00:00:00.000Z";
const header = `${JSON.stringify({ type: "session", version: 3, id: "s", timestamp, cwd: "/" })}\n`;

/** Number of characters in a line: seven of them are read at once, or in pieces. */
const SIZES = { small: 100_000, large: 700_000 };

function line(id: number, length = SIZES.large): string {
  const message = { role: "user", content: "x".repeat(length), timestamp: id };
  const parentId = id === 1 ? null : String(id - 1);
  return `${JSON.stringify({ type: "message", id: String(id), parentId, timestamp, message })}\n`;
}

/** Creates a file system that calls `happen` between the given number of reads of the file and the next call. */
function after(reads: number, happen: () => void): FileSystem {
  let count = 0;
  return watchedFs((name) => {
    if (count === reads) happen();
    if (count === reads || name === "readSync") count++;
    return undefined;
  });
}

const idsOf = (log: FileLog | undefined) =>
  log && Array.from(log.index.tree.ordinals(), (ordinal) => log.index.tree.idAt(ordinal));

test.each([
  [1, "small"],
  [1, "large"],
  [2, "large"],
  [3, "large"],
] as const)(
  "lines that another process appends after read %i of a %s file are read, too",
  async (reads, size) => {
    const before = header + [1, 2, 3, 4, 5, 6, 7].map((id) => line(id, SIZES[size])).join("");
    const more = () => appendFileSync(path, line(8) + line(9));
    for (const open of [FileLog.open, FileLog.load]) {
      writeFileSync(path, before);
      const log = await open(path, { mode: "read-only", fs: after(reads, more) });
      expect(idsOf(log)).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
      expect(log?.index.issues).toEqual([]);
    }
  },
);

test("a file that is cut after its first piece is read up to the cut", async () => {
  const lines = [1, 2, 3, 4, 5, 6, 7].map((id) => line(id));
  for (const open of [FileLog.open, FileLog.load]) {
    writeFileSync(path, header + lines.join(""));
    const kept = header.length + lines.slice(0, 3).join("").length;
    const log = await open(path, { mode: "read-only", fs: after(1, () => truncateSync(path, kept)) });
    expect(idsOf(log)).toEqual(["1", "2", "3"]);
  }
});
