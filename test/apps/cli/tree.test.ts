import { dirname } from "node:path";
import { expect, test } from "vitest";
import { scaleCount } from "../../support/share.ts";
import { cli, jsonLines, TERMINAL, temporaryFolder, widest } from "./support/cli.ts";
import { makeId, Scribe, userLine, writeLines } from "./support/sessions.ts";

/** Returns the line with an entry. */
function lineOf(lines: readonly string[], id: string): string {
  const found = lines.filter((line) => line.includes(` ${id.slice(0, 8)} `));
  expect(found).toHaveLength(1);
  return found[0] ?? "";
}

test("a line shows short ID, kind, time, and text; the last one marks the leaf", async () => {
  const scribe = new Scribe(temporaryFolder());
  const question = scribe.user("What is a tree?");
  const answer = scribe.assistant("A graph without cycles.");
  const { code, lines } = await cli(["tree", "--pretty", scribe.path]);
  expect(code).toBe(0);
  expect(lineOf(lines, question)).toBe(`● ${question} user           22:02  What is a tree?`);
  expect(lineOf(lines, answer)).toBe(`○ ${answer} assistant      22:03  A graph without cycles.  ← leaf`);
});

test("the path to the leaf stays at the left edge, with other branches indented", async () => {
  const scribe = new Scribe(temporaryFolder());
  const root = scribe.user("start");
  const left = scribe.assistant("first try");
  const leftEnd = scribe.user("go on");
  scribe.session.appendCustomEntry("state", { n: 1 });
  scribe.session.branch(root);
  const kept = scribe.assistant("second try");
  const { lines, stderr } = await cli(["tree", "--pretty", scribe.path]);
  const drawn = lines.slice(lines.indexOf("") + 1, lines.lastIndexOf(""));
  expect(drawn.map((line) => line.slice(0, 12))).toEqual([
    `● ${root} u`,
    `├─○ ${left}`,
    `│ ● ${leftEnd}`,
    `○ ${kept} a`,
  ]);
  expect(stderr).toBe(
    `To compare the active branch with another: sessiontree diff ${scribe.path} ${leftEnd}\n`,
  );
});

test("records of state, usage, and imports are hidden, except those with a mark", async () => {
  const scribe = new Scribe(temporaryFolder());
  const { session } = scribe;
  session.appendModelChange("anthropic", "claude");
  const question = scribe.user("start");
  const states = Array.from({ length: 4 }, (_, n) => session.appendCustomEntry("claude-code.note", { n }));
  const [, marked = ""] = states;
  const answer = scribe.assistant("done");
  session.appendCustomEntry("claude-code.away_summary", { content: "The leak was\nfound." });
  const next = scribe.user("go on");
  const drawn = async (...args: string[]) => {
    const { lines } = await cli(["tree", "--pretty", scribe.path, ...args]);
    return lines.slice(lines.indexOf("") + 1);
  };
  const [first, second, last, , hint, ...more] = await drawn();
  expect([first, second, last].map((line) => line?.slice(2, 10))).toEqual([question, answer, next]);
  expect([hint, more]).toEqual(["6 records of state, usage, or imports hidden; --records shows them.", []]);
  const records = await drawn("--records");
  expect(records).toContain("… 4 entries: 4 program records");
  expect(records.join("\n")).toContain("claude-code.away_summary: The leak was found.");
  expect(await drawn("--all")).toHaveLength(9);
  expect((await cli(["tree", scribe.path])).lines).toHaveLength(9);
  session.appendLabelChange(marked, "seen");
  const labeled = await drawn();
  expect(labeled.join("\n")).toContain("[seen] claude-code.note");
  expect(labeled.at(-3)).toMatch(/label .*← leaf$/);
});

test("a record is drawn at a fork, and --tail counts entries of the conversation", async () => {
  const scribe = new Scribe(temporaryFolder());
  const { session } = scribe;
  const question = scribe.user("start");
  const state = session.appendCustomEntry("state", { n: 1 });
  scribe.assistant("one");
  session.branch(state);
  const [kept, other] = [session.appendCustomEntry("state", { n: 2 }), scribe.assistant("two")];
  session.appendCustomEntry("state", { n: 3 });
  const end = scribe.user("end");
  const { lines } = await cli(["tree", "--pretty", scribe.path]);
  lineOf(lines, state);
  expect(lines.join("\n")).not.toContain(kept);
  const tail = async (...args: string[]) => {
    const result = await cli(["tree", "--pretty", scribe.path, "--tail", "3", ...args]);
    return result.lines.map((line) => line.slice(2, 10));
  };
  expect(await tail()).toEqual([question, other, end]);
  expect((await tail("--records"))[0]).toBe(other);
});

test("labels, compactions, branch summaries, failures, and the leaf are visible", async () => {
  const scribe = new Scribe(temporaryFolder());
  const { session } = scribe;
  const root = scribe.user("start");
  scribe.assistant("", { content: [], stopReason: "error", errorMessage: "429: slow down" });
  session.branchWithSummary(root, "## Goal\nIt was tried.");
  const marked = scribe.user("here");
  session.appendLabelChange(marked, "checkpoint");
  session.appendCompaction("All that was before", marked, 186_045);
  session.branch(marked);
  const { stdout, lines } = await cli(["tree", "--pretty", scribe.path], {
    columns: 120,
    env: { NO_COLOR: "1" },
  });
  expect(lineOf(lines, marked)).toContain("[checkpoint] here");
  expect(stdout).toMatch(/◆ \w{8} compaction .*186,045-token context → All that was before/);
  expect(stdout).toMatch(/◆ \w{8} branch summary .*Goal It was tried\./);
  expect(stdout).toContain("429: slow down");
  expect(lines.filter((line) => line.endsWith("← leaf"))).toHaveLength(1);
  expect(lines.find((line) => line.endsWith("← leaf"))).toContain("compaction");
});

test("long lines of entries are folded and counted; --all draws them", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Do it all");
  scribe.work(30);
  const end = scribe.assistant("Done.");
  const { lines } = await cli(["tree", "--pretty", scribe.path]);
  expect(lines).toContain("… 60 entries: 30 assistant, 30 tool results");
  expect(lines.filter((line) => line.includes("tool result  "))).toEqual([]);
  lineOf(lines, end);
  const all = await cli(["tree", "--pretty", scribe.path, "--all"]);
  expect(all.stdout).not.toContain("…");
  expect(all.lines.filter((line) => line.includes(" tool result  "))).toHaveLength(30);
});

test("a fold shows its number of failures, and how to list them", async () => {
  const scribe = new Scribe(temporaryFolder());
  const root = scribe.user("Do it all");
  scribe.work(10);
  scribe.call("bash", { command: "npm test" });
  const failed = scribe.result("1 test failed", true);
  scribe.work(10);
  const done = scribe.assistant("Done.");
  for (let branch = 0; branch < 120; branch++) {
    scribe.session.branch(root);
    scribe.assistant("", { content: [], stopReason: "error", errorMessage: "overloaded" });
  }
  scribe.session.branch(done);
  scribe.assistant("The end.");
  const env = { NO_COLOR: "1" };
  const { stdout } = await cli(["tree", scribe.path], { columns: 80, env });
  expect(stdout).toContain("121 failed,");
  expect(stdout).toMatch(/^… \d+ entries, 1 failed: /m);
  expect(stdout).toMatch(/more branches, \d+ entries, \d+ failed: /);
  expect(stdout).toContain(`To list the failures:\n  sessiontree search --failed ${scribe.path}`);
  const colored = await cli(["tree", scribe.path], { columns: 80, env: { FORCE_COLOR: "1" } });
  expect(colored.stdout).toContain("\u001b[31m… 42 entries, 1 failed");
  const failures = jsonLines(await cli(["tree", scribe.path, "--json"])).filter(
    (one) => "failed" in Object(one),
  );
  expect(failures).toHaveLength(121);
  expect(failures[0]).toMatchObject({ id: failed, failed: true });
  expect((await cli(["show", scribe.path])).stdout).toContain(
    `121: sessiontree search --failed ${scribe.path}`,
  );
  const id = scribe.session.getSessionId();
  const byId = await cli(["show", id, "--dir", dirname(scribe.path)]);
  expect(byId.stdout).toContain(`121: sessiontree search --failed "" ${id}`);
});

test("a failed result and a failed command show the error, not the beginning of the output", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Run the tests.");
  const output = `Running 3 tests\n${"ok\n".repeat(20)}AssertionError: expected 3 to be 4\nCommand exited with code 1`;
  const result = scribe.result(output, true);
  const facts = { output, exitCode: 2, cancelled: false, truncated: false, timestamp: 0 };
  const command = scribe.session.appendMessage({ role: "bashExecution", command: "npm test", ...facts });
  const { lines } = await cli(["tree", "--pretty", scribe.path], { columns: 120, env: { NO_COLOR: "1" } });
  expect(lineOf(lines, result)).toContain("  bash failed (exit code 1): AssertionError: expected 3 to be 4");
  expect(lineOf(lines, command)).toContain("  $ npm test (exit code 2): AssertionError: expected 3 to be 4");
  const piped = await cli(["tree", scribe.path]);
  expect(piped.lines[2]?.split("\t").at(-1)).toBe(`$ npm test (exit code 2): ${output.replace(/\n/g, " ")}`);
});

test("--tail draws the last entries of the path to the leaf, one by one", async () => {
  const scribe = new Scribe(temporaryFolder());
  const root = scribe.user("Do it all");
  scribe.work(60);
  const answer = scribe.assistant("Done.");
  const leaf = scribe.user("And now?");
  scribe.session.branch(root);
  scribe.assistant("Another way.");
  scribe.session.branch(leaf);
  const last = scribe.assistant("Nothing.");
  const { lines } = await cli(["tree", scribe.path, "--tail", "3"], TERMINAL);
  expect(lines.map((line) => line.slice(2, 10))).toEqual([answer, leaf, last]);
  expect(lines.at(-1)).toContain("← leaf");
  const piped = await cli(["tree", scribe.path, "--tail", "2"]);
  expect(piped.lines.map((line) => line.split("\t")[0])).toEqual([leaf, last]);
  const json = jsonLines(await cli(["tree", scribe.path, "--tail", "2", "--json"]));
  expect(json.map((one) => Object(one).id)).toEqual([leaf, last]);
  expect(jsonLines(await cli(["tree", scribe.path, "--tail", "9999", "--json"]))).toHaveLength(124);
  const both = await cli(["tree", scribe.path, "--tail", "2", "--all"]);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("Give --all or --tail, not both.")]);
});

test("a session of 2,000 entries is drawn in fewer than 120 lines, its end in more detail", async () => {
  const scribe = new Scribe(temporaryFolder());
  const questions: string[] = [];
  for (let turn = 0; turn < 200; turn++) {
    questions.push(scribe.user(`question ${turn}`));
    scribe.work(4);
    scribe.assistant("answered");
  }
  const { lines } = await cli(["tree", "--pretty", scribe.path]);
  expect(lines.length).toBeLessThan(120);
  for (const id of questions.slice(-5)) lineOf(lines, id);
  expect(lines.find((line) => line.includes(questions[0] ?? ""))).toBeDefined();
});

test("a session's content cannot control the terminal", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder, "evil", `${folder}/\u001b]0;cwd\u0007`);
  const { session } = scribe;
  const evil = "\u001b]0;title\u0007\u001b[2J\u009b31m\u202egnirts\u0000\u2028\r\u0008end";
  scribe.user(evil);
  scribe.call(evil, { path: evil });
  scribe.result(evil, true);
  session.appendMessage({
    role: "bashExecution",
    command: evil,
    output: evil,
    exitCode: 1,
    cancelled: false,
    truncated: false,
    timestamp: 0,
  });
  session.appendModelChange(evil, evil);
  session.appendCustomEntry(evil, { evil });
  session.appendCustomMessageEntry(evil, evil, true);
  session.append({ unknownType: evil });
  const labeled = scribe.user("labeled");
  session.appendLabelChange(labeled, evil);
  session.appendSessionInfo(evil);
  writeLines(folder, "ids.jsonl", [userLine(evil, null), { ...userLine("b", evil), timestamp: evil }]);
  for (const args of [[scribe.path], [scribe.path, "--json"], [`${folder}/ids.jsonl`]]) {
    const { code, stdout } = await cli(["tree", "--pretty", ...args]);
    expect(code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them is allowed
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/);
    expect(stdout).toContain("end");
  }
});

test.each([80, 61, 200])("lines fit %i columns, whatever the content", async (columns) => {
  const scribe = new Scribe(temporaryFolder());
  const texts = [
    "x".repeat(5000),
    "日本語".repeat(90),
    "👨‍👩‍👧‍👦 🇩🇪 ".repeat(60),
    "e\u0301".repeat(300),
    "नमस्ते ".repeat(50),
  ];
  let place = scribe.user("start");
  for (const text of texts) {
    scribe.session.branch(place);
    scribe.user(text);
    scribe.session.branch(place);
    place = scribe.assistant(text);
    scribe.session.appendLabelChange(place, text);
    scribe.session.branch(place);
  }
  scribe.session.appendSessionInfo("名前".repeat(100));
  for (const more of [[], ["--all"]]) {
    const result = await cli(["tree", "--pretty", scribe.path, ...more], { columns, env: { NO_COLOR: "1" } });
    expect(widest(result)).toBeLessThanOrEqual(columns);
    expect(widest(result)).toBeGreaterThan(columns - 3);
  }
});

test("colors are for terminals only", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("\u001b[31mred\u001b[0m");
  scribe.assistant("ok");
  const plain = await cli(["tree", "--pretty", scribe.path]);
  const colored = await cli(["tree", "--pretty", scribe.path], { columns: 80 });
  expect(plain.stdout).not.toContain("\u001b");
  expect(colored.stdout).toContain("\u001b[");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors
  expect(colored.stdout.replace(/\u001b\[\d+m/g, "")).toBe(plain.stdout);
  expect(plain.stdout).toContain("  red");
});

test("draws a session without entries", async () => {
  const folder = temporaryFolder();
  const path = writeLines(folder, "empty.jsonl", []);
  const { code, stdout } = await cli(["tree", "--pretty", path]);
  expect(code).toBe(0);
  expect(stdout).toContain("0 entries");
});

test("several roots are drawn below one line", async () => {
  const folder = temporaryFolder();
  const path = writeLines(
    folder,
    "roots.jsonl",
    ["a", "b", "c"].map((id) => userLine(id, null)),
  );
  const { lines } = await cli(["tree", "--pretty", path]);
  expect(lines.slice(lines.indexOf("") + 1).map((line) => line.trimEnd().slice(0, 5))).toEqual([
    "○ 3 b",
    "├─● a",
    "├─● b",
    "● c  ",
  ]);
});

const COUNT = scaleCount(100_000);
/** Folded branches, as a number for readers. */
const FOLDED = (COUNT - 10).toLocaleString("en");

/** Writes a session of many entries; `parentOf` returns the number of an entry's parent. */
function writeMany(parentOf: (number: number) => number | null, size = COUNT): string {
  const lines = Array.from({ length: size }, (_, i) => {
    const parent = parentOf(i);
    return userLine(makeId(i), parent === null ? null : makeId(parent));
  });
  return writeLines(temporaryFolder(), "many.jsonl", lines);
}

test("many entries in a line do not indent, and are a page when folded", async () => {
  const path = writeMany((i) => (i === 0 ? null : i - 1));
  const folded = await cli(["tree", "--pretty", path]);
  expect(folded.lines.length).toBeLessThan(120);
  const all = await cli(["tree", "--pretty", path, "--all"]);
  expect(all.lines.length).toBeGreaterThan(COUNT);
  expect(all.lines.slice(-COUNT).every((line) => line.startsWith("● "))).toBe(true);
});

test("many branches from one entry are a page when folded, and one column when not", async () => {
  const path = writeMany((i) => (i === 0 ? null : 0));
  const folded = await cli(["tree", "--pretty", path]);
  expect(folded.lines.length).toBeLessThan(30);
  expect(folded.stdout).toContain(`├─… ${FOLDED} more branches, ${FOLDED} entries: ${FOLDED} user`);
  const all = await cli(["tree", "--pretty", path, "--all"]);
  expect(all.lines.filter((line) => line.startsWith("├─● "))).toHaveLength(COUNT - 2);
});

test("a branch at every other entry is folded", async () => {
  const path = writeMany((i) => (i === 0 ? null : i % 2 === 1 ? i - 1 : i - 2));
  const { lines } = await cli(["tree", "--pretty", path]);
  expect(lines.length).toBeLessThan(500);
  expect(lines.some((line) => line.endsWith("small branches"))).toBe(true);
});

test("branches within branches stay on the screen at any depth", async () => {
  // A line of entries, and then a later child of each, the deepest first: every branch is inside another.
  const half = 5000;
  const path = writeMany((i) => (i === 0 ? null : i < half ? i - 1 : 2 * half - 1 - i), 2 * half);
  for (const more of [[], ["--all"]]) {
    const result = await cli(["tree", "--pretty", path, ...more]);
    expect(result.code).toBe(0);
    expect(widest(result)).toBeLessThanOrEqual(80);
    expect(result.stdout).toContain("┆ ● ");
  }
});

test("long IDs with the same prefix are shown up to their first difference", async () => {
  const folder = temporaryFolder();
  const ids = ["0198aaaa-0000-7000-8000-1", "0198aaaa-0000-7111-8000-1"];
  const path = writeLines(
    folder,
    "long.jsonl",
    ids.map((id, i) => userLine(id, ids[i - 1] ?? null)),
  );
  const { stdout } = await cli(["tree", "--pretty", path]);
  expect(stdout).toContain("● 0198aaaa-0000-70 user");
  expect(stdout).toContain("● 0198aaaa-0000-71 user");
});

test("--json prints one object per entry in file order", async () => {
  const scribe = new Scribe(temporaryFolder());
  const root = scribe.user("start");
  const side = scribe.assistant("left");
  scribe.session.branch(root);
  const leaf = scribe.assistant("kept");
  scribe.session.appendLabelChange(root, "here");
  const label = scribe.session.getLeafId();
  expect(jsonLines(await cli(["tree", "--pretty", scribe.path, "--json"]))).toEqual([
    {
      id: root,
      parentId: null,
      type: "message",
      kind: "user",
      timestamp: "2026-02-03T22:02:00.000Z",
      label: "here",
      isLeaf: false,
      excerpt: "start",
    },
    expect.objectContaining({ id: side, parentId: root, kind: "assistant", isLeaf: false, excerpt: "left" }),
    expect.objectContaining({ id: leaf, parentId: root, kind: "assistant", isLeaf: false, excerpt: "kept" }),
    expect.objectContaining({ id: label, parentId: leaf, type: "label", kind: "label", isLeaf: true }),
  ]);
});
