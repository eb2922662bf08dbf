import { readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";

const ID = "0198aaaa-0000-7000-8000-000000000001";

function started() {
  const scribe = new Scribe(temporaryFolder(), ID);
  const first = scribe.user("start");
  scribe.assistant("ok");
  return { path: scribe.path, first };
}

describe("name", () => {
  test("sets, shows, and clears the name", async () => {
    const { path } = started();
    expect((await cli(["name", path])).stdout).toBe("The session has no name.\n");
    expect((await cli(["name", path, "Spring \u001b[2J"])).stdout).toBe(
      'The session is named "Spring ␛[2J".\n',
    );
    expect(SessionManager.open(path).getSessionName()).toBe("Spring \u001b[2J");
    expect((await cli(["name", path])).stdout).toBe("Spring ␛[2J\n");
    expect((await cli(["name", path, "--clear"])).stdout).toBe("The session has no name.\n");
    expect(SessionManager.open(path).getSessionName()).toBeUndefined();
  });

  test("showing it writes nothing", async () => {
    const { path } = started();
    const before = readFileSync(path, "utf8");
    await cli(["name", path]);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("--json prints it, and null if there is none", async () => {
    const { path } = started();
    expect(jsonLines(await cli(["name", path, "--json"]))).toEqual([{ id: ID, path, name: null }]);
    expect(jsonLines(await cli(["name", path, "Spring", "--json"]))).toEqual([
      { id: ID, path, name: "Spring" },
    ]);
  });
});

describe("name of an entry", () => {
  test("sets, shows, and clears the label; a label identifies its entry", async () => {
    const { path, first } = started();
    const has = async (...args: string[]) => (await cli(["name", path, ...args])).stdout;
    expect(await has(first)).toBe(`Entry ${first} has no label.\n`);
    expect(await has(first, "works")).toBe(`Entry ${first} is labeled "works".\n`);
    expect(SessionManager.open(path).getLabel(first)).toBe("works");
    expect(await has(first)).toBe("works\n");
    expect(await has(first.slice(0, 8))).toBe("works\n");
    expect(await has("works", "--clear")).toBe(`Entry ${first} has no label.\n`);
    expect(SessionManager.open(path).getLabel(first)).toBeUndefined();
  });

  test("--json prints it, and null if there is none", async () => {
    const { path, first } = started();
    const result = jsonLines(await cli(["name", path, first, "works", "--json"]));
    expect(result).toEqual([{ id: ID, path, entry: first, label: "works" }]);
    const cleared = jsonLines(await cli(["name", path, "works", "--clear", "--json"]));
    expect(cleared).toEqual([{ id: ID, path, entry: first, label: null }]);
  });

  test("a missing entry is reported, and nothing is written", async () => {
    const { path } = started();
    const before = readFileSync(path, "utf8");
    const { code, stderr } = await cli(["name", path, "zzzz", "works"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^sessiontree: Entry zzzz not found[^\n]+\n$/);
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});

test("a single word that is not an entry is the new name, and an entry's ID or label is not", async () => {
  const { path, first } = started();
  for (const name of ["works", first.slice(0, 7), "ffffffff"])
    expect((await cli(["name", path, name])).stdout).toBe(`The session is named "${name}".\n`);
  expect((await cli(["name", path, "@leaf"])).stdout).toMatch(/^Entry \S+ has no label\.\n$/);
  expect(SessionManager.open(path).getSessionName()).toBe("ffffffff");
});

test("name accepts a label or --clear, and creates no session", async () => {
  const { path } = started();
  const both = await cli(["name", path, "@leaf", "x", "--clear"]);
  expect(both.code).toBe(2);
  expect(both.stderr).toContain("or --clear, not both.");
  const missing = `${path}.missing.jsonl`;
  for (const more of [["x"], ["@leaf", "x"]])
    expect((await cli(["name", missing, ...more])).stderr).toMatch(/^sessiontree: There is no session at /);
  expect(() => statSync(missing)).toThrow();
});
