import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { findSession } from "../../../src/apps/cli/session-argument.ts";
import { temporaryFolder } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";

/** Resolves a session from a folder; `dir` as the option, `folder` as the variable with the sessions' folder. */
function find(
  name: string,
  cwd: string,
  { dir, folder }: { dir?: string; folder?: string } = {},
): Promise<string> {
  const silent = { write: () => undefined };
  const env = folder === undefined ? {} : { PI_CODING_AGENT_SESSION_DIR: folder };
  return findSession(name, { io: { stdout: silent, stderr: silent, env, cwd, now: Date.now }, dir });
}

/** Creates a project with a session; its file is in the folder for sessions. */
function sessionIn(folder: string, project: string, id: string): string {
  const cwd = join(folder, project);
  mkdirSync(cwd, { recursive: true });
  const scribe = new Scribe(join(folder, "sessions"), id, cwd);
  scribe.user(`in ${project}`);
  return scribe.path;
}

test("paths are relative to the current folder, to home, or URLs, whether the file exists or not", async () => {
  const folder = temporaryFolder();
  expect(await find("a.jsonl", folder)).toBe(join(folder, "a.jsonl"));
  expect(await find("sub/a", folder)).toBe(join(folder, "sub", "a"));
  expect(await find("~/a", folder)).toBe(join(homedir(), "a"));
  expect(await find(pathToFileURL(join(folder, "a b")).href, "/")).toBe(join(folder, "a b"));
});

test("a file in the current folder has priority over an equal ID, and an ID over a folder", async () => {
  const folder = temporaryFolder();
  const path = sessionIn(folder, "one", "abc");
  expect(await find("abc", folder, { folder: join(folder, "sessions") })).toBe(path);
  mkdirSync(join(folder, "abc"));
  mkdirSync(join(folder, "other"));
  expect(await find("abc", folder, { folder: join(folder, "sessions") })).toBe(path);
  expect(await find("other", folder, { folder: join(folder, "sessions") })).toBe(join(folder, "other"));
  rmSync(join(folder, "abc"), { recursive: true });
  copyFileSync(path, join(folder, "abc"));
  expect(await find("abc", folder, { folder: join(folder, "sessions") })).toBe(join(folder, "abc"));
});

test("IDs and their unique prefixes are found in all projects", async () => {
  const folder = temporaryFolder();
  const place = { folder: join(folder, "sessions") };
  const first = sessionIn(folder, "one", "aaaa-1111");
  const second = sessionIn(folder, "two", "aaaa-2222");
  for (const name of ["aaaa-1111", "aaaa-1"]) expect(await find(name, folder, place)).toBe(first);
  expect(await find("aaaa-2", join(folder, "one"), place)).toBe(second);
  expect(await find("aaaa-2", folder, { dir: "sessions" })).toBe(second);
});

test("of several matches, this project's is used; otherwise the candidates are listed", async () => {
  const folder = temporaryFolder();
  const place = { folder: join(folder, "sessions") };
  const first = sessionIn(folder, "one", "aaaa-1111");
  const second = sessionIn(folder, "two", "aaaa-2222");
  expect(await find("aaaa", join(folder, "one"), place)).toBe(first);
  const failure = find("aaaa", folder, place);
  await expect(failure).rejects.toMatchObject({ code: "SESSION_AMBIGUOUS" });
  await expect(failure).rejects.toThrow(/\n {2}aaaa-111 .*in one/);
  await expect(failure).rejects.toThrow(/\n {2}aaaa-222 .*in two/);
  expect(await find("one in", folder, place)).toBe(first);
  expect(await find("in", join(folder, "two"), place)).toBe(second);
});

test("@last is the latest session of this project, or of the given folder", async () => {
  const folder = temporaryFolder();
  const place = { folder: join(folder, "sessions") };
  const first = sessionIn(folder, "one", "a1");
  const second = sessionIn(folder, "two", "a2");
  expect(await find("@last", join(folder, "one"), place)).toBe(first);
  expect(await find("@last", join(folder, "two"), place)).toBe(second);
  expect([first, second]).toContain(await find("@last", folder, { dir: join(folder, "sessions") }));
  await expect(find("@last", folder, place)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});

test("a name without a match is reported", async () => {
  const folder = temporaryFolder();
  await expect(find("nothing", folder)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});
