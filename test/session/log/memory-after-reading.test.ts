import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionManager } from "../../../src/index.ts";
import { collectGarbage } from "../../support/collect-garbage.ts";
import { removeFolder } from "../../support/remove-folder.ts";

const MEGABYTE = 1024 * 1024;
const LARGE = 32 * MEGABYTE;

test("a session retains no bytes of its file, however long its last line is", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-held-"));
  try {
    const path = join(folder, "a.jsonl");
    const head = { parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
    const lines = [
      { type: "session", version: 3, id: "held", timestamp: head.timestamp, cwd: folder },
      { type: "custom", id: "0000000a", ...head, customType: "large", data: "x".repeat(LARGE) },
    ];
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    const sessions = Array.from({ length: 3 }, () => SessionManager.open(path, { mode: "read-only" }));
    await collectGarbage();
    const held = process.memoryUsage().arrayBuffers - before;
    expect(sessions.map((session) => session.getEntryCount())).toEqual([1, 1, 1]);
    expect(held).toBeLessThan(2 * MEGABYTE);
  } finally {
    removeFolder(folder);
  }
});
