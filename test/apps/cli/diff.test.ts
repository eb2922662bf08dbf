import { describe, expect, test } from "vitest";
import { cli, jsonLines, temporaryFolder, widest } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";

/** Two branches after a message that touched different files. */
function branched() {
  const scribe = new Scribe(temporaryFolder());
  const root = scribe.user("build a wall");
  const left = scribe.call("read", { path: "plan.md" });
  scribe.session.appendLabelChange(left, "left");
  scribe.session.branch(root);
  scribe.call("edit", { path: "wall.ts" });
  const right = scribe.assistant("a long answer ".repeat(30));
  return { path: scribe.path, root, left, right };
}

describe("diff", () => {
  test("shows where two branches part, and the entries of each", async () => {
    const { path, root, left, right } = branched();
    const { code, lines } = await cli(["diff", path, left, right]);
    expect(code).toBe(0);
    expect(lines[0]).toBe("The branches diverge after");
    expect(lines[1]).toContain(`${root} user            build a wall`);
    expect(lines.slice(3, 6)).toEqual([
      `- 1 entry only on the branch to ${left}`,
      `- ${left} assistant       → read plan.md`,
      "  read      plan.md",
    ]);
    expect(lines[7]).toBe(`+ 2 entries only on the branch to ${right}`);
    expect(lines.at(-1)).toBe("  modified  wall.ts");
  });

  test("finds entries by label, by ID prefix, and by @leaf", async () => {
    const { path, root, left, right } = branched();
    const [diff] = jsonLines(await cli(["diff", path, "left", "@leaf", "--json"]));
    expect(diff).toMatchObject({
      commonAncestorId: root,
      x: { entry: left, readFiles: ["plan.md"], modifiedFiles: [] },
      y: { entry: right, modifiedFiles: ["wall.ts"] },
    });
    expect((await cli(["diff", path, "zzzz", "@leaf"])).stderr).toContain("Entry zzzz not found");
  });

  test("without an entry, compares the only other branch, or lists a command for each", async () => {
    const { path, left, right, root } = branched();
    const [diff] = jsonLines(await cli(["diff", path, "--json"]));
    expect(diff).toMatchObject({
      commonAncestorId: root,
      x: { entries: [{ id: left }, { type: "label" }] },
      y: { entry: right },
    });
    const scribe = new Scribe(temporaryFolder());
    const start = scribe.user("build a wall");
    const only = await cli(["diff", scribe.path]);
    expect([only.code, only.stderr]).toEqual([
      2,
      expect.stringContaining("The session has only one branch."),
    ]);
    const ends = ["one", "two", "three", "four", "five", "six", "seven"].map((text) => {
      scribe.session.branch(start);
      return scribe.assistant(text);
    });
    const { code, stdout, stderr } = await cli(["diff", scribe.path]);
    expect([code, stdout]).toEqual([2, ""]);
    const [sentence, ...commands] = stderr.trimEnd().split("\n");
    expect(sentence).toContain(
      "6 other branches, the latest 5 of which are listed; name the entry that ends one.",
    );
    expect(commands).toHaveLength(5);
    expect(commands[0]).toMatch(new RegExp(`^  sessiontree diff \\S+ ${ends[5]?.slice(0, 2)}\\S*  # six$`));
    const asJson = await cli(["diff", scribe.path, "--json"]);
    expect([asJson.code, JSON.parse(asJson.stderr)]).toEqual([
      2,
      { error: { code: "USAGE", message: expect.stringContaining(commands.join("\n")) } },
    ]);
  });

  test("hides records of state, usage, and imports", async () => {
    const scribe = new Scribe(temporaryFolder());
    const root = scribe.user("build a wall");
    const state = scribe.session.appendCustomEntry("state", { n: 0 });
    const left = scribe.assistant("left");
    scribe.session.branch(state);
    scribe.session.appendCustomEntry("state", { n: 1 });
    scribe.session.appendModelChange("anthropic", "claude");
    const right = scribe.assistant("right");
    const { lines } = await cli(["diff", scribe.path, left, right]);
    expect(lines[1]).toContain(`${root} user            build a wall`);
    expect(lines.slice(-3)).toEqual([
      `+ 1 entry only on the branch to ${right}`,
      `+ ${right} assistant       right`,
      "  2 records hidden; --records shows them",
    ]);
    const all = await cli(["diff", scribe.path, left, right, "--records"]);
    expect(all.lines[1]).toContain(`${state} program record`);
    expect(all.stdout).toContain(`+ 3 entries only on the branch to ${right}`);
    expect(all.stdout).not.toContain("hidden");
  });

  test("reports that one branch continues the other", async () => {
    const { path, root, right } = branched();
    const { stdout } = await cli(["diff", path, root, right]);
    expect(stdout).toContain(`- nothing only on the branch to ${root}`);
  });

  test("reports that two roots have nothing in common", async () => {
    const scribe = new Scribe(temporaryFolder());
    const first = scribe.user("one");
    scribe.session.resetLeaf();
    const second = scribe.user("two");
    expect((await cli(["diff", scribe.path, first, second])).lines[0]).toBe(
      "The branches have no entry in common.",
    );
  });

  test("compares with the leaf by default, and shows how two files are related", async () => {
    const { path, left, right } = branched();
    const [diff] = jsonLines(await cli(["diff", path, "left", "--json"]));
    expect(diff).toMatchObject({ x: { entry: left }, y: { entry: right } });
    const { code, stderr } = await cli(["diff", "a.jsonl", "b c.jsonl"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("run: sessiontree merge a.jsonl 'b c.jsonl' -o merged.jsonl"),
    ]);
  });

  test("suggests a merge for another session given by ID or prefix, but not for other words", async () => {
    const dir = temporaryFolder();
    for (const [id, text] of [
      ["aaaa-1", "build a wall"],
      ["bbbb-1", "works now"],
      ["bbbb-2", "paint it"],
    ] as const)
      new Scribe(dir, id).user(text);
    for (const other of ["bbbb-1", "bbbb"]) {
      const { code, stderr } = await cli(["diff", "aaaa-1", other, "--dir", dir]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`sessiontree merge aaaa-1 ${other} -o`)]);
    }
    const { code, stderr } = await cli(["diff", "aaaa-1", "works", "--dir", dir]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("Entry works not found")]);
  });

  test("fits the terminal", async () => {
    const { path, left } = branched();
    expect(widest(await cli(["diff", path, left, "@leaf"], { columns: 50 }))).toBeLessThanOrEqual(50);
  });
});
