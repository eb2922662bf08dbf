import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSessionError, SessionManager } from "sessiontree";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { litter, names } from "./support/sandbox.ts";
import { getIds, getTexts, onDisk, user } from "./support/sessions.ts";

let disk = "";
let reason = "";

beforeAll(() => {
  disk = mkdtempSync(join(tmpdir(), "sessiontree-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], { stdio: "pipe" });
  } catch (error) {
    reason = `this machine does not let us mount a small disk: ${error instanceof Error ? error.message : error}`;
  }
});

afterAll(() => {
  // Lazy, because a failed test may hold a file open.
  if (reason === "") execFileSync("umount", ["--lazy", disk]);
  rmSync(disk, { recursive: true, force: true });
});

/** Appends until the disk is full; returns the acknowledged texts. */
function fill(session: SessionManager): string[] {
  const acknowledged: string[] = [];
  for (;;) {
    const text = `${acknowledged.length} ${"x".repeat(3000)}`;
    try {
      session.appendMessage(user(text));
    } catch (error) {
      if (!isSessionError(error, "WRITE_FAILED")) throw error;
      expect(error.cause).toMatchObject({ code: "ENOSPC" });
      return acknowledged;
    }
    acknowledged.push(text);
  }
}

describe("a full disk", () => {
  test("rejects appends, loses nothing, and accepts appends after space is freed", async (context) => {
    if (reason !== "") context.skip(reason);
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, Buffer.alloc(32 * 1024));
    const session = SessionManager.create("/project", disk);
    const path = session.getSessionFile() ?? "";
    const states: string[] = [];
    session.on("persistence_state", ({ state }) => states.push(state));
    const acknowledged = fill(session);
    expect(acknowledged.length).toBeGreaterThan(10);
    for (let i = 0; i < 3; i++) expect(fill(session)).toEqual([]);
    expect(states).toEqual(["degraded"]);
    expect(getTexts(session.getEntries())).toEqual(acknowledged);
    expect(getTexts(onDisk(path).getEntries())).toEqual(acknowledged);

    // Operations that need a second file do not start, and leave no file.
    for (const attempt of [
      () => session.redactEntry(getIds(session)[0] ?? ""),
      () => session.createBranchedSession(session.getLeafId() ?? ""),
      () => SessionManager.create("/project", disk).appendMessage(user("another")),
    ]) {
      expect(attempt).toThrow(expect.objectContaining({ code: "WRITE_FAILED" }));
      expect(litter(disk)).toEqual([]);
      expect(names(disk)).toHaveLength(2);
    }
    expect(getTexts(onDisk(path).getEntries())).toEqual(acknowledged);

    rmSync(ballast);
    session.appendMessage(user("there is room again"));
    expect(states).toEqual(["degraded", "ok"]);
    expect(getTexts(onDisk(path).getEntries())).toEqual([...acknowledged, "there is room again"]);
    expect(onDisk(path).issues.filter(({ code }) => code === "TAIL_TORN")).toEqual([]);
    await session.close();
  });
});
