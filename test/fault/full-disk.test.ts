import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSessionError, SessionManager } from "sessiontree";
import { expect, test } from "vitest";

/** Mounts a file system of 256 KB; undefined, with the reason told, where the machine does not allow that. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-full-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], { stdio: "pipe" });
    return folder;
  } catch (error) {
    rmSync(folder, { recursive: true });
    console.info(
      `no small disk to fill here: ${error instanceof Error ? error.message.split("\n")[0] : error}`,
    );
    return undefined;
  }
}

function unmount(folder: string): void {
  // Also when a test has failed and left its file open.
  execFileSync("umount", ["--lazy", folder]);
  rmSync(folder, { recursive: true });
}

const message = (text: string) => ({ role: "user" as const, content: text, timestamp: 1 });

test("a disk that is really full fails the append, keeps memory and file equal, and recovers", async (context) => {
  const disk = smallDisk();
  if (disk === undefined) {
    context.skip();
    return;
  }
  try {
    const filler = join(disk, "filler");
    writeFileSync(filler, Buffer.alloc(128 * 1024));
    const session = SessionManager.create("/projects/project", disk);
    const states: string[] = [];
    session.on("persistence_state", ({ state }) => states.push(state));
    const path = session.getSessionFile() ?? "";
    const acknowledged: string[] = [];
    let failure: unknown;
    while (failure === undefined) {
      try {
        acknowledged.push(session.appendMessage(message("x".repeat(3_000))));
      } catch (error) {
        failure = error;
      }
    }
    expect(isSessionError(failure, "WRITE_FAILED")).toBe(true);
    expect(failure).toMatchObject({ cause: { code: "ENOSPC" } });
    expect(states).toEqual(["degraded"]);
    const reopened = SessionManager.open(path, { mode: "read-only" });
    expect(reopened.getPathIds()).toEqual(acknowledged);
    expect(session.getPathIds()).toEqual(acknowledged);
    expect(reopened.issues).toEqual([]);

    expect(() => session.redact(acknowledged[0] ?? "")).toThrow(
      expect.objectContaining({ code: "WRITE_FAILED" }),
    );
    expect(readdirSync(disk).sort()).toEqual([path.slice(disk.length + 1), "filler"].sort());

    rmSync(filler);
    acknowledged.push(session.appendMessage(message("room again")));
    expect(states).toEqual(["degraded", "ok"]);
    expect(SessionManager.open(path, { mode: "read-only" }).getPathIds()).toEqual(acknowledged);
    await session.close();
  } finally {
    unmount(disk);
  }
});
