import { expect, test } from "vitest";
import { foreignEntry } from "../../support/messages.ts";
import { type CliResult, cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe, userLine, writeLines } from "./support/sessions.ts";

test("shows a session's facts and contents", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  const { session } = scribe;
  const root = scribe.user("start");
  scribe.work(2);
  session.branch(root);
  session.appendLabelChange(root, "here");
  session.appendSessionInfo("Work on it");
  const { code, lines } = await cli(["show", scribe.path]);
  const facts = new Map(lines.map((line) => [line.split("  ")[0], line.slice(10).trim()]));
  expect(code).toBe(0);
  expect(facts.get("name")).toBe("Work on it");
  expect(facts.get("id")).toBe(session.getSessionId());
  expect(facts.get("project")).toBe(folder);
  expect(facts.get("entries")).toBe("7: 1 user, 2 assistant, 2 tool results, 1 label, 1 name");
  expect(facts.get("time")).toBe("2026-02-03 22:02 – 22:06");
  expect(facts.get("branches")).toBe("2");
  expect(facts.get("leaf")).toBe(session.getLeafId());
  expect(facts.get("labels")).toBe(`[here] on ${root}`);
  expect(facts.has("issues")).toBe(false);
  expect(jsonLines(await cli(["show", scribe.path, "--json"]))).toEqual([
    {
      id: session.getSessionId(),
      path: scribe.path,
      name: "Work on it",
      title: "Work on it",
      cwd: folder,
      created: "2026-02-03T22:01:00.000Z",
      version: 3,
      bytes: expect.any(Number),
      entryCount: 7,
      kinds: { user: 1, assistant: 2, "tool result": 2, label: 1, name: 1 },
      branchCount: 2,
      leafId: session.getLeafId(),
      labels: [{ entry: root, label: "here" }],
      failureCount: 0,
      issueCount: 0,
    },
  ]);
});

test("shows an empty session", async () => {
  const path = writeLines(temporaryFolder(), "empty.jsonl", []);
  const { code, stdout } = await cli(["show", path]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^entries {3}0$/m);
  expect(jsonLines(await cli(["show", path, "--json"]))[0]).toMatchObject({ entryCount: 0, leafId: null });
});

test("an entry can be given by ID, ID prefix, label, or @leaf", async () => {
  const scribe = new Scribe(temporaryFolder());
  const root = scribe.user("start");
  scribe.session.appendLabelChange(root, "here");
  const leaf = scribe.assistant("end");
  for (const [name, id] of [
    [root, root],
    [root.slice(0, 7), root],
    ["here", root],
    ["@leaf", leaf],
  ] as const) {
    const [entry] = jsonLines(await cli(["show", scribe.path, name, "--json"]));
    expect(entry).toEqual(scribe.session.getEntry(id));
  }
});

test("a name that matches no entry, or several, is reported", async () => {
  const path = writeLines(temporaryFolder(), "two.jsonl", [
    userLine("aaaa1", null),
    userLine("aaaa2", "aaaa1"),
  ]);
  const missing = await cli(["show", path, "bbbb"]);
  expect(missing.code).toBe(1);
  expect(missing.stderr).toMatch(/^sessiontree: Entry bbbb not found .* --all" shows .*\n$/);
  const several = await cli(["show", path, "aaaa"]);
  expect(several.code).toBe(1);
  expect(several.stderr).toMatch(
    /^sessiontree: 2 entries match aaaa, such as aaaa1, aaaa2\. Enter more.*\n$/,
  );
});

test("a message is shown with its complete content, as lines", async () => {
  const scribe = new Scribe(temporaryFolder());
  const id = scribe.assistant("", {
    content: [
      { type: "thinking", thinking: "hm\nhm" },
      { type: "text", text: "first line\n  second line" },
      { type: "toolCall", id: "c", name: "bash", arguments: { command: "ls\nls" } },
    ],
  });
  const { stdout } = await cli(["show", scribe.path, id]);
  expect(stdout).toContain(`assistant  ${id}\n`);
  expect(stdout).toMatch(/^model +claude$/m);
  expect(stdout).toMatch(/^place +line 2, offset \d+$/m);
  expect(stdout).toContain("\nthinking\nhm\nhm\n");
  expect(stdout).toContain("\nfirst line\n  second line\n");
  expect(stdout).toContain('\n→ bash\n{\n  "command": "ls\\nls"\n}\n');
});

test("a result shows its call, that answer's cost, and the next answer; a call shows its results", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Run the tests.");
  const cost = { input: 1, output: 0.25, cacheRead: 0, cacheWrite: 0, total: 1.25 };
  const usage = { input: 900, output: 40, cacheRead: 8000, cacheWrite: 0, totalTokens: 8940, cost };
  const call = scribe.assistant("", {
    content: [
      { type: "toolCall", id: "a", name: "bash", arguments: { command: "npm test" } },
      { type: "toolCall", id: "b", name: "read", arguments: { path: "a.ts" } },
    ],
    usage,
  });
  const failed = scribe.result("1 test failed", true, "a");
  scribe.session.appendLabelChange(failed, "here");
  const read = scribe.result("export {}", false, "b");
  const next = scribe.assistant("I see.");
  const factsOf = async (id: string) => {
    const { lines } = await cli(["show", scribe.path, id], { columns: 200, env: { NO_COLOR: "1" } });
    return new Map(lines.map((line) => [line.split("  ")[0], line.replace(/^\S+(?: \S+)*\s{2,}/, "")]));
  };
  const ofFailed = await factsOf(failed);
  expect(ofFailed.get("call")).toBe(`→ bash npm test, in ${call}`);
  expect(ofFailed.get("called by")).toBe(
    "anthropic/claude, tokens: 8,900 in (8,000 from the cache), 40 out, $1.25",
  );
  expect(ofFailed.get("next answer")).toBe(`${next}: anthropic/claude, tokens: 10 in, 5 out`);
  expect((await factsOf(read)).get("call")).toBe(`→ read a.ts, in ${call}`);
  const ofCall = await factsOf(call);
  expect(ofCall.get("tokens")).toBe("8,900 in (8,000 from the cache), 40 out");
  expect(ofCall.get("cost")).toBe("$1.25");
  expect(ofCall.get("results")).toBe(`${failed} (failed), ${read}`);
  const ofNext = await factsOf(next);
  expect(ofNext.get("cost")).toBe(undefined);
  expect(ofNext.has("results")).toBe(false);
});

test("a result without its call, and an answer without usage, are shown without unknown facts", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Go on.");
  const lost = scribe.result("done", false, "no-such-call");
  const { stdout } = await cli(["show", scribe.path, lost]);
  expect(stdout).not.toMatch(/^(?:call|called by|next answer|cost) /m);
  const call = scribe.call("bash", { command: "ls" });
  const result = scribe.result("a");
  const silent = scribe.session.append(
    foreignEntry({ type: "message", message: { role: "assistant", content: [] } }),
  );
  const ofResult = await cli(["show", scribe.path, result]);
  expect(ofResult.stdout).toContain(`→ bash ls, in ${call}\n`);
  expect(ofResult.stdout).toMatch(new RegExp(`^next answer +${silent}$`, "m"));
  const odd = scribe.session.append(
    foreignEntry({ type: "message", message: { role: "assistant", content: 7 } }),
  );
  expect((await cli(["show", scribe.path, odd])).stdout).not.toMatch(/^(?:tokens|cost|results) /m);
});

test("a failed command and a failed answer show the next answer, as a failed result does", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Build it.");
  const facts = { command: "make", output: "no rule", cancelled: false, truncated: false, timestamp: 0 };
  const bash = { role: "bashExecution" as const, ...facts, exitCode: 2 };
  const command = scribe.session.appendMessage(bash);
  const unseen = scribe.session.appendMessage({ ...bash, excludeFromContext: true });
  const failed = scribe.assistant("", { content: [], stopReason: "error", errorMessage: "overloaded" });
  const answer = scribe.assistant("There is no such rule.");
  const nextOf = async (id: string) => {
    const { stdout } = await cli(["show", scribe.path, id]);
    return /^next answer +(\w+)/m.exec(stdout)?.[1];
  };
  expect(await nextOf(command)).toBe(failed);
  expect(await nextOf(failed)).toBe(answer);
  expect(await nextOf(unseen)).toBeUndefined();
  expect(await nextOf(answer)).toBeUndefined();
});

test("--tail shows the last entries of the path in full, up to the leaf or the given entry", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("One");
  const second = scribe.assistant("Two");
  const third = scribe.user("Three");
  const { stdout } = await cli(["show", scribe.path, "--tail", "2"]);
  expect(stdout).toMatch(
    new RegExp(`^assistant  ${second}\n[^]*\nTwo\n[^]*\n\n\nuser  ${third}\n[^]*\nThree\n$`),
  );
  const idsOf = async (...args: string[]) =>
    jsonLines(await cli(["show", scribe.path, ...args, "--json"])).map((one): unknown => Object(one).id);
  expect(await idsOf("--tail", "2")).toEqual([second, third]);
  expect(await idsOf(second, "--tail", "9")).toEqual([expect.any(String), second]);
  const empty = writeLines(temporaryFolder(), "empty.jsonl", []);
  expect((await cli(["show", empty, "--tail", "2"])).stdout).toBe("");
});

test("every role and type can be shown, and none controls the terminal", async () => {
  const scribe = new Scribe(temporaryFolder());
  const { session } = scribe;
  const evil = "\u001b]0;title\u0007\u001b[2J\u009b31m\u202egnirts";
  session.appendMessage({ role: "system", content: evil, sections: { [evil]: evil }, timestamp: 0 });
  session.appendMessage({
    role: "user",
    content: [{ type: "image", data: "A".repeat(4000), mimeType: `image/${evil}` }],
    timestamp: 0,
  });
  scribe.call(evil, { [evil]: evil });
  scribe.result(evil, true);
  session.appendMessage({ role: "custom", customType: evil, content: evil, display: true, timestamp: 0 });
  session.appendCustomEntry(evil, { [evil]: [evil] });
  session.appendCustomMessageEntry(evil, evil, true);
  session.append({ unknownType: evil, [evil]: { [evil]: evil } });
  session.append(
    foreignEntry({ type: "message", message: { role: evil, content: [{ type: evil }, 7, null] } }),
  );
  session.append(foreignEntry({ type: "message", message: { role: "user", content: { deep: evil } } }));
  session.appendCompaction(evil, null, 10);
  for (const { id } of session.getEntries()) {
    for (const more of [[], ["--json"]]) {
      const { code, stdout } = await cli(["show", scribe.path, id, ...more]);
      expect(code).toBe(0);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them is allowed
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
    expect(jsonLines(await cli(["show", scribe.path, id, "--json"]))).toEqual([session.getEntry(id)]);
  }
  expect((await cli(["show", scribe.path, session.getEntries()[1]?.id ?? ""])).stdout).toContain("3.0 kB");
});

test("an entry with a damaged body is shown as damaged, with exit code 1", async () => {
  const head = { type: "message", id: "a", parentId: null, timestamp: "2026-02-03T22:01:00.000Z" };
  const path = writeLines(temporaryFolder(), "damaged.jsonl", [{ ...head, message: 7 }]);
  const { code, stdout } = await cli(["show", path, "a"]);
  expect(code).toBe(1);
  expect(stdout).toContain("cannot be read");
  const json = await cli(["show", path, "a", "--json"]);
  expect(json.code).toBe(1);
  expect(jsonLines(json)).toEqual([expect.objectContaining({ id: "a", type: "message", isDamaged: true })]);
});

/** A session with a failure, its fix, and an abandoned branch. */
function fixed() {
  const scribe = new Scribe(temporaryFolder());
  const asked = scribe.user("Test it");
  const call = scribe.call("bash", { command: "npm test" });
  const failed = scribe.result("expected 3 to be 4", true);
  const left = scribe.assistant("I give up");
  scribe.session.branch(failed);
  const answer = scribe.assistant("I fix the sum.");
  scribe.session.appendCustomEntry("state", { step: 1 });
  const output = Array.from({ length: 100 }, (_, i) => `line ${i + 1}`).join("\n");
  scribe.call("bash", { command: "npm test" });
  const result = scribe.result(output);
  const ids = (result: CliResult) => jsonLines(result).map((entry): unknown => Object(entry).id);
  const show = (...args: string[]) => cli(["show", scribe.path, ...args]);
  return { asked, call, failed, left, answer, result, ids, show };
}

test("--after and --before show the conversation around an entry, without records", async () => {
  const { asked, call, failed, left, answer, result, ids, show } = fixed();
  expect(ids(await show(failed, "--after", "1", "--json"))).toEqual([failed, answer]);
  const after = ids(await show(failed, "--after", "9", "--json"));
  expect(after).toEqual([failed, answer, expect.any(String), result]);
  expect(ids(await show(failed, "--before", "9", "--json"))).toEqual([asked, call, failed]);
  expect(ids(await show(failed, "--before", "1", "--after", "1", "--json"))).toEqual([call, failed, answer]);
  expect(ids(await show(left, "--after", "5", "--json"))).toEqual([left]);
  expect(ids(await show(call, "--after", "3", "--json"))).not.toContain(left);
});

test("around an entry, long text is shortened, with the command that shows all of it", async () => {
  const { answer, result, show } = fixed();
  const { stdout } = await show(answer, "--after", "5");
  expect(stdout).toContain("line 15\n… 70 lines left out …\nline 86\n");
  expect(stdout).toMatch(new RegExp(`\nIn full: sessiontree show /\\S+ ${result}\n$`));
  for (const args of [[result], [result, "--before", "1"], ["--tail", "2"]]) {
    const whole = await show(...args);
    expect(whole.stdout).toContain("line 50\n");
    expect(whole.stdout).not.toContain("left out");
  }
});

test("--after and --before need an entry, and no --tail", async () => {
  const { answer, show } = fixed();
  expect((await show("--after", "2")).stderr).toContain("Name the entry that --after and --before start at.");
  expect((await show(answer, "--after", "2", "--tail", "1")).code).toBe(2);
});
