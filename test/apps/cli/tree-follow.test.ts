import { expect, test } from "vitest";
import { cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";

/** Watches a session, and appends an entry after each shown one, up to a number. */
function watchWhileWriting(scribe: Scribe, texts: readonly string[], args: readonly string[] = []) {
  const interruption = new AbortController();
  const left = [...texts];
  const appendNext = () => {
    const text = left.shift();
    if (text === undefined) interruption.abort();
    else scribe.user(text);
  };
  return cli(["tree", scribe.path, "--follow", ...args], {
    onOutput: appendNext,
    // By then the command has read the session, so appended entries are new to it.
    untilInterrupted: () => {
      appendNext();
      return interruption.signal;
    },
  });
}

test("shows each entry when it arrives, and stops when interrupted", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("before");
  const { code, stdout, stderr } = await watchWhileWriting(scribe, ["one", "two \u001b[2J"]);
  expect([code, stderr]).toEqual([0, `sessiontree: Following ${scribe.path}; press Ctrl-C to stop.\n`]);
  expect(stdout).toMatch(/^22:03 [0-9a-f]{8} user {12}one\n22:04 [0-9a-f]{8} user {12}two ␛\[2J\n$/);
});

test("--json prints the entries themselves", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("before");
  const result = await watchWhileWriting(scribe, ["one", "two"], ["--json"]);
  expect(jsonLines(result)).toEqual(JSON.parse(JSON.stringify(scribe.session.getEntries().slice(1))));
});

test("skips records, unless requested", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("before");
  const watch = (...args: string[]) => {
    const interruption = new AbortController();
    return cli(["tree", scribe.path, "--follow", ...args], {
      onOutput: () => interruption.abort(),
      untilInterrupted: () => {
        scribe.session.appendCustomEntry("state", { n: 1 });
        scribe.user("after");
        return interruption.signal;
      },
    });
  };
  expect((await watch()).stdout).not.toContain("program record");
  expect((await watch("--records")).stdout).toContain("program record");
});
