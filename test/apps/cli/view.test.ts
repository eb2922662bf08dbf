import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeSessionPage } from "../../../src/apps/cli/page/session-page.ts";
import { run } from "../../../src/apps/cli/run.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { readBytes } from "./support/page-data.ts";
import { Scribe } from "./support/sessions.ts";

function story(): { folder: string; path: string; first: string } {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  const first = scribe.user("What is <b>wrong</b>?");
  scribe.assistant("Nothing.");
  scribe.session.appendLabelChange(first, "start");
  return { folder, path: scribe.path, first };
}

/** Returns the path at the end of the command's output. */
function pathIn(text: string): string {
  const path = text.trimEnd();
  onTestFinished(() => removeFolder(dirname(path)));
  return path;
}

test("view writes a page to a temporary file readable only by its owner, and prints the path", async () => {
  const { path } = story();
  const { code, stdout, stderr } = await cli(["view", path]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "Wrote a page of 3 entries.\n" });
  expect(stdout).toMatch(/^\/.+\.html\n$/);
  const page = pathIn(stdout);
  expect(readBytes(readFileSync(page, "utf8")).equals(readFileSync(path))).toBe(true);
  if (process.platform !== "win32") {
    expect(statSync(page).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(page)).mode & 0o777).toBe(0o700);
  }
});

test("view replaces no file", async () => {
  const { path, folder } = story();
  const view = (file: string) => cli(["view", path, "-o", file, "--no-open"], { cwd: folder });
  expect((await view("a.html")).code).toBe(0);
  const page = readFileSync(join(folder, "a.html"));
  const session = readFileSync(path);
  for (const file of ["a.html", path]) {
    const refused = await view(file);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("already exists")]);
  }
  expect(readFileSync(join(folder, "a.html")).equals(page)).toBe(true);
  expect(readFileSync(path).equals(session)).toBe(true);
});

test("view opens the page if it can open a browser, unless disabled", async () => {
  const { path, folder } = story();
  const opened: string[] = [];
  const call = async (canOpen: boolean, ...args: string[]) => {
    const errors: string[] = [];
    const stdout = { write: () => undefined };
    const open = (file: string) => {
      opened.push(file);
      return Promise.resolve(canOpen);
    };
    await run(["view", path, ...args], {
      stdout,
      stderr: { write: (text) => errors.push(text) },
      env: {},
      cwd: folder,
      open,
    });
    return errors.join("");
  };
  expect(await call(true, "-o", "a.html")).toBe("Wrote a page of 3 entries.\n");
  expect(opened).toEqual([join(folder, "a.html")]);
  expect(await call(false, "-o", "b.html")).toContain("open it in a browser yourself");
  expect(await call(true, "-o", "c.html", "--no-open")).toBe("Wrote a page of 3 entries.\n");
  expect(opened).toHaveLength(2);
});

test("view and export replace no file", async () => {
  const { path, folder } = story();
  writeFileSync(join(folder, "there.html"), "mine");
  for (const args of [
    ["view", path, "-o", "there.html"],
    ["export", path, "--html", "-o", "there.html"],
  ]) {
    const { code, stderr } = await cli(args, { cwd: folder });
    expect(code).toBe(1);
    expect(stderr).toContain("already exists");
  }
  expect(readFileSync(join(folder, "there.html"), "utf8")).toBe("mine");
});

test("view creates no folder for a page, because a name may have a typo", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  scribe.user("Hello.");
  const { code, stderr } = await cli(["view", scribe.path, "-o", "pgaes/s.html"], { cwd: folder });
  expect([code, stderr]).toEqual([2, expect.stringContaining("does not exist; create it first")]);
  expect(readdirSync(folder)).toEqual([basename(scribe.path)]);
});

test("view opens at an entry given by its label", async () => {
  const { path, folder, first } = story();
  const result = await cli(["view", path, "--leaf", "start", "-o", "p.html", "--json"], { cwd: folder });
  expect(jsonLines(result)).toEqual([{ path: join(folder, "p.html"), entryCount: 3 }]);
  expect(readFileSync(join(folder, "p.html"), "utf8")).toContain(`"leafId":"${first}"`);
  const missing = await cli(["view", path, "--leaf", "nobody"], { cwd: folder });
  expect(missing.code).toBe(1);
});

test("export --html writes the same page, to a file or to the output", async () => {
  const { path, folder } = story();
  expect((await cli(["export", path, "--html", "-o", "p.html"], { cwd: folder })).code).toBe(0);
  const { code, stdout } = await cli(["export", path, "--html"]);
  expect(code).toBe(0);
  expect(stdout).toBe(readFileSync(join(folder, "p.html"), "utf8"));
  expect(stdout).toMatch(/^<!doctype html>/);
});

test("rejects a file that is not a session before it writes anything", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "x.jsonl"), "prose\n");
  const { code, stderr } = await cli(["view", join(folder, "x.jsonl")]);
  expect(code).toBe(1);
  expect(stderr).toContain("sessiontree:");
});

test("rejects a session that is too large for a page, with a message that explains what to do", () => {
  const { path } = story();
  const session = { path, fileName: "story.jsonl" };
  expect(() => makeSessionPage(session, { maxBytes: 100 })).toThrow(
    /too large for one page.*export SESSION --jsonl/,
  );
  expect(() => makeSessionPage(session, { maxBytes: 100 })).toThrow(
    expect.objectContaining({ code: "WRITE_FAILED" }),
  );
  expect(makeSessionPage(session, { maxBytes: statSync(path).size })).toMatch(/^<!doctype html>/);
});
