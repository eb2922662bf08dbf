import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { mergeSessions } from "sessiontree/catalog";
import { describe, expect, test } from "vitest";
import { resolveSession } from "../../../src/catalog/list/resolve-session.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Chain, header, put } from "../support/sessions.ts";

/** Creates sessions in one flat folder: id → name. */
function sessions(named: { [id: string]: string }) {
  const sessionDir = temporaryFolder();
  for (const [id, name] of Object.entries(named)) {
    const chain = new Chain(header({ id })).user(`I am ${id}`);
    put(join(sessionDir, `${id}.jsonl`), (name === "" ? chain : chain.name(name)).text);
  }
  return (wanted: string) => resolveSession(wanted, { sessionDir, cache: false });
}

describe("a matching session", () => {
  test("has exactly this id, though others have it as a prefix of id or name", async () => {
    const resolve = sessions({ abc: "", abcd: "", x: "abc" });
    expect(await resolve("abc")).toMatchObject({ id: "abc" });
  });

  test("has exactly this name, though others start with it", async () => {
    const resolve = sessions({ a1: "parser", a2: "parser fix", parse: "" });
    expect(await resolve(" parser ")).toMatchObject({ id: "a1" });
  });

  test("is the only one whose id or name has this prefix", async () => {
    const resolve = sessions({ abc1: "", abd2: "", xyz: "Parser" });
    expect(await resolve("abc")).toMatchObject({ id: "abc1" });
    expect(await resolve("Par")).toMatchObject({ id: "xyz" });
  });

  test("may be written in the other case, if nothing else matches", async () => {
    const resolve = sessions({ abc: "", ABCD: "", xyz: "Parser" });
    expect(await resolve("ABC")).toMatchObject({ id: "ABCD" });
    expect(await resolve("parser")).toMatchObject({ id: "xyz" });
  });

  test("is at this path, in any folder", async () => {
    const resolve = sessions({ a: "" });
    const path = put(join(temporaryFolder(), "b.jsonl"), new Chain(header({ id: "b" })).text);
    expect(await resolve(path)).toMatchObject({ id: "b", path });
    expect(await resolve(`file://${path}`)).toMatchObject({ id: "b" });
  });

  test("may have a name that looks like a path", async () => {
    const resolve = sessions({ a: "fix/login", b: "" });
    expect(await resolve("fix/login")).toMatchObject({ id: "a" });
  });
});

describe("no session matches", () => {
  test.each(["", "  ", "nothing", "/no/such/file.jsonl", "xbc"])("%j", async (wanted) => {
    const resolve = sessions({ abc: "", "": "" });
    await expect(resolve(wanted)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND", details: { wanted } });
  });

  test("the path of a folder", async () => {
    const folder = join(temporaryFolder(), "folder.jsonl");
    mkdirSync(folder);
    await expect(sessions({ abc: "" })(folder)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  test("the path of a file that is not a session, and the file is unchanged", async () => {
    const path = put(join(temporaryFolder(), "a.txt"), "hello\n");
    await expect(sessions({ abc: "" })(path)).rejects.toMatchObject({ code: "NOT_A_SESSION" });
    expect(readFileSync(path, "utf8")).toBe("hello\n");
  });
});

describe("more than one session matches", () => {
  test("a prefix of two ids, which the error names", async () => {
    const resolve = sessions({ abc1: "one", abc2: "", b: "" });
    await expect(resolve("abc")).rejects.toMatchObject({
      code: "SESSION_AMBIGUOUS",
      details: { wanted: "abc", count: 2 },
    });
    const error = await resolve("abc").catch((thrown) => thrown);
    const candidates = [...error.details.candidates].sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(candidates).toMatchObject([{ id: "abc1", name: "one" }, { id: "abc2" }]);
    expect(candidates[0].path).toMatch(/abc1\.jsonl$/);
  });

  test("a name of two sessions, and an id of two sessions", async () => {
    const resolve = sessions({ a: "same", b: "same" });
    await expect(resolve("same")).rejects.toMatchObject({ code: "SESSION_AMBIGUOUS" });
    const sessionDir = temporaryFolder();
    for (const name of ["1", "2"])
      put(join(sessionDir, `${name}.jsonl`), new Chain(header({ id: "x" })).text);
    const same = resolveSession("x", { sessionDir, cache: false });
    await expect(same).rejects.toMatchObject({ code: "SESSION_AMBIGUOUS" });
  });

  test("the id of two copies, as synced folders create them: the error names both, and the merge that joins them", async () => {
    const sessionDir = temporaryFolder();
    const [first, second] = ["s.jsonl", "s (conflicted copy).jsonl"].map((name) =>
      put(join(sessionDir, name), new Chain(header({ id: "x" })).text),
    );
    const error = await resolveSession("x", { sessionDir, cache: false }).catch((thrown) => thrown);
    const [, a = "", b = ""] = /sessiontree merge ("[^"]+") ("[^"]+") --in-place/.exec(error.message) ?? [];
    expect([a, b].map((text) => JSON.parse(text)).sort()).toEqual([first, second].sort());
    mergeSessions(JSON.parse(a), JSON.parse(b), { inPlace: true });
    rmSync(JSON.parse(b));
    expect(await resolveSession("x", { sessionDir, cache: false })).toMatchObject({ path: JSON.parse(a) });
  });
});

describe("words match a session", () => {
  test("by its name, before first messages, and only if no id or name has them as a prefix", async () => {
    const resolve = sessions({ a1: "Checkout rounding", a2: "", round: "", other: "Total sums" });
    expect(await resolve("rounding")).toMatchObject({ id: "a1" });
    expect(await resolve("ROUNDING check")).toMatchObject({ id: "a1" });
    expect(await resolve("round")).toMatchObject({ id: "round" });
    expect(await resolve("am a2")).toMatchObject({ id: "a2" });
    expect(await resolve("sums")).toMatchObject({ id: "other" });
  });

  test("by its first message, before sessions with a name, and the result identifies forks", async () => {
    const sessionDir = temporaryFolder();
    const write = (id: string, more: object, name?: string) => {
      const chain = new Chain(header({ id, ...more })).user("Fix the rounding");
      put(join(sessionDir, `${id}.jsonl`), (name === undefined ? chain : chain.name(name)).text);
    };
    write("a1", {});
    write("a2", { parentSession: "a1" }, "Another try");
    const resolve = (wanted: string) => resolveSession(wanted, { sessionDir, cache: false });
    expect(await resolve("rounding")).toMatchObject({ id: "a1" });
    expect(await resolve("another rounding")).toMatchObject({ id: "a2" });
    write("a3", { parentSession: "a1" });
    await expect(resolve("rounding")).rejects.toThrow(/\n {2}a3 {2}\S+ {2}\(fork\) Fix the rounding/);
  });

  test("by several, which the error lists by id prefixes", async () => {
    const resolve = sessions({
      "0199-aaaa-1": "Fix login",
      "0199-aaaa-2": "Test the login",
      "0199-bbbb": "",
    });
    const error = await resolve("login").catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "SESSION_AMBIGUOUS", details: { count: 2 } });
    const [head, ...lines] = error.message.split("\n");
    expect(head).toBe('2 sessions match "login". Specify one by id:');
    expect(lines.sort()).toEqual([
      expect.stringMatching(/^ {2}0199-aaaa-1 {2}\d{4}-\d\d-\d\d {2}Fix login$/),
      expect.stringMatching(/^ {2}0199-aaaa-2 {2}\d{4}-\d\d-\d\d {2}Test the login$/),
    ]);
    for (const line of lines)
      expect(await resolve(line.trim().split(" ")[0])).toMatchObject({
        name: expect.stringContaining("ogin"),
      });
  });
});
