import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { SessionManager } from "sessiontree";
import { deleteSession, listTrashed, restoreSession } from "sessiontree/catalog";
import { describe, expect, onTestFinished, test } from "vitest";
import { sandbox } from "../../fault/support/sandbox.ts";
import { failing } from "../../support/failing-calls.ts";
import { folder, home, inTrash, trash, useTrashHome } from "../../support/trash-home.ts";

useTrashHome();

/** Creates a file whose text is its name. */
function makeFile(name: string): string {
  const path = join(folder, name);
  writeFileSync(path, name);
  return path;
}

// Other systems keep their trash where no variable can move it, and a test must not fill a user's trash.
describe.runIf(process.platform === "linux")("deleteSession", () => {
  test("moves the file to the trash, with its original path", async () => {
    const path = makeFile("a.jsonl");
    makeFile("b.jsonl");
    await deleteSession(path);
    expect(readdirSync(folder)).toEqual(["b.jsonl"]);
    expect(inTrash()).toEqual(["a.jsonl"]);
    const [info = ""] = readdirSync(join(trash, "info"));
    expect(readFileSync(join(trash, "info", info), "utf8")).toContain(`Path=${path}\n`);
  });

  test("is not undone by a session that holds the file open, before and after its restoration", async () => {
    const session = SessionManager.create("/projects/a", { sessionDir: folder, createAtOnce: true });
    const path = session.getSessionFile() ?? "";
    const say = (content: string) => session.appendMessage({ role: "user", content, timestamp: Date.now() });
    say("one");
    const { mode } = statSync(path);
    await deleteSession(path);
    expect(() => say("two")).toThrow(expect.objectContaining({ code: "SESSION_NOT_FOUND" }));
    expect(readdirSync(folder)).toEqual([]);
    const [trashed] = await listTrashed();
    if (trashed !== undefined) await restoreSession(trashed);
    expect(statSync(path).mode).toBe(mode);
    say("three");
    expect(SessionManager.open(path).getEntryCount()).toBe(2);
  });

  test("leaves no mark if it fails", async () => {
    const session = SessionManager.create("/projects/a", { sessionDir: folder, createAtOnce: true });
    const path = session.getSessionFile() ?? "";
    session.appendMessage({ role: "user", content: "one", timestamp: Date.now() });
    mkdirSync(join(home, "data"), { recursive: true });
    writeFileSync(trash, "no folder");
    await expect(deleteSession(path)).rejects.toMatchObject({ code: "WRITE_FAILED" });
    rmSync(path);
    session.appendMessage({ role: "user", content: "two", timestamp: Date.now() });
    expect(SessionManager.open(path).getEntryCount()).toBe(2);
  });

  test.each(["a[1].jsonl", "*.jsonl", "{a1,b}.jsonl", "!a1.jsonl"])(
    "does not treat the name %s as a pattern",
    async (name) => {
      makeFile("a1.jsonl");
      makeFile("b.jsonl");
      await deleteSession(makeFile(name));
      expect(readdirSync(folder).sort()).toEqual(["a1.jsonl", "b.jsonl"]);
      expect(inTrash()).toEqual([name]);
    },
  );

  test("finds the file below the home folder", async () => {
    makeFile("a.jsonl");
    await deleteSession(join("~", folder.slice(home.length), "a.jsonl"));
    expect(inTrash()).toEqual(["a.jsonl"]);
  });

  test("reports that a file is missing or is not a file, and leaves all others", async () => {
    makeFile("a1.jsonl");
    mkdirSync(join(folder, "folder.jsonl"));
    for (const name of ["a[1].jsonl", "*", "none/a1.jsonl", "a1.jsonl/b.jsonl", "folder.jsonl", ""]) {
      const path = join(folder, name);
      await expect(deleteSession(path)).rejects.toMatchObject({
        code: "SESSION_NOT_FOUND",
        details: { path },
      });
    }
    expect(readdirSync(folder).sort()).toEqual(["a1.jsonl", "folder.jsonl"]);
    expect(inTrash()).toEqual([]);
  });

  test("leaves the file in place if the system has no trash", async () => {
    const path = makeFile("a.jsonl");
    mkdirSync(join(home, "data"), { recursive: true });
    writeFileSync(trash, "no folder");
    await expect(deleteSession(path)).rejects.toMatchObject({ code: "WRITE_FAILED", details: { path } });
    expect(readFileSync(path, "utf8")).toBe("a.jsonl");
  });

  test("reports the file's path and the method of deletion", async () => {
    const path = makeFile("a.jsonl");
    expect(await deleteSession(path)).toEqual({ path, method: "trash" });
  });

  test("does nothing if the caller has aborted", async () => {
    const path = makeFile("a.jsonl");
    const signal = AbortSignal.abort("enough");
    await expect(deleteSession(path, { signal })).rejects.toMatchObject({ code: "ABORTED", cause: "enough" });
    expect(readdirSync(folder)).toEqual(["a.jsonl"]);
  });

  test("leaves a session that is open under a lease, and deletes one with the lease of a dead process", async () => {
    const session = SessionManager.create(folder, { sessionDir: folder, lease: "fail" });
    session.appendMessage({ role: "user", content: "Hello", timestamp: 1 });
    const path = session.getSessionFile() ?? "";
    for (const permanent of [false, true]) {
      await expect(deleteSession(path, { permanent })).rejects.toMatchObject({ code: "LEASE_HELD" });
    }
    expect(existsSync(path)).toBe(true);
    await session.close();
    writeFileSync(`${path}.lease`, JSON.stringify({ pid: 0, host: "none", startedAt: "", token: "" }));
    utimesSync(`${path}.lease`, 1, 1);
    await deleteSession(path);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("deleteSession in a bundle", () => {
  /** Bundles a program that deletes a file, in a separate folder, and runs it. */
  async function runBundled(path: string, nodeModules: boolean): Promise<string> {
    const bundles = sandbox();
    const root = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
    const outfile = join(bundles, "program.mjs");
    const isDist = process.env["SESSIONTREE_TEST_TARGET"] === "dist";
    await build({
      stdin: {
        contents: `import { deleteSession, listTrashed, restoreSession } from "sessiontree/catalog";
          const done = deleteSession(${JSON.stringify(path)});
          done.then(({ method }) => console.log(method), ({ code, message }) => console.log(code, message));`,
        resolveDir: root("test"),
      },
      alias: { "sessiontree/catalog": root(isDist ? "dist/catalog.js" : "src/catalog.ts") },
      outfile,
      bundle: true,
      logLevel: "error",
      platform: "node",
      format: "esm",
      target: "node20",
    });
    if (nodeModules) symlinkSync(root("node_modules"), join(bundles, "node_modules"));
    const env = { ...process.env, HOME: home, XDG_DATA_HOME: join(home, "data") };
    return execFileSync(process.execPath, [outfile], { encoding: "utf8", env });
  }

  test.runIf(process.platform === "linux")("uses the package next to the bundle", async () => {
    const path = makeFile("a.jsonl");
    expect(await runBundled(path, true)).toBe("trash\n");
    expect(existsSync(path)).toBe(false);
  });

  test("reports immediately what to do if the package is missing, and leaves the file", async () => {
    const path = makeFile("a.jsonl");
    expect(await runBundled(path, false)).toMatch(/^WRITE_FAILED .*Install it next to the program/);
    expect(readdirSync(folder)).toEqual(["a.jsonl"]);
  });
});

describe("permanent deleteSession", () => {
  const HEADER = '{"type":"session","version":3,"id":"a","timestamp":"2026-02-03T22:00:00.000Z","cwd":"/"}\n';

  test("removes a session, and leaves all others", async () => {
    const path = makeFile("a.jsonl");
    writeFileSync(path, HEADER);
    makeFile("b.jsonl");
    expect(await deleteSession(path, { permanent: true })).toEqual({ path, method: "permanent" });
    expect([readdirSync(folder), inTrash()]).toEqual([["b.jsonl"], []]);
  });

  test("refuses a file that is not a session, unless it is forced", async () => {
    const path = makeFile("a.jsonl");
    await expect(deleteSession(path, { permanent: true })).rejects.toMatchObject({ code: "NOT_A_SESSION" });
    expect(existsSync(path)).toBe(true);
    await deleteSession(path, { permanent: true, force: true });
    expect(existsSync(path)).toBe(false);
  });

  test("follows no link", async () => {
    const path = makeFile("a.jsonl");
    writeFileSync(path, HEADER);
    const link = join(folder, "link.jsonl");
    symlinkSync(path, link);
    await expect(deleteSession(link, { permanent: true, force: true })).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
      details: { path: link },
    });
    expect(readdirSync(folder).sort()).toEqual(["a.jsonl", "link.jsonl"]);
  });

  test("works on a full disk, to free space", async () => {
    const path = join(folder, "full.jsonl");
    const session = SessionManager.create(folder, folder);
    session.appendMessage({ role: "user", content: "Much.", timestamp: 1 });
    await session.close();
    writeFileSync(path, readFileSync(session.getSessionFile() ?? ""));
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    onTestFinished(failing("writeSync", full));
    symlinkSync(path, `${path}.lease`);
    await expect(deleteSession(path, { permanent: true })).rejects.toMatchObject({ code: "WRITE_FAILED" });
    rmSync(`${path}.lease`);
    expect(await deleteSession(path, { permanent: true })).toEqual({ path, method: "permanent" });
    expect(readdirSync(folder)).toHaveLength(1);
  });
});
