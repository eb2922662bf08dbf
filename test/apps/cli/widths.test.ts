import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { measureWidth } from "../../../src/apps/cli/text/width.ts";
import { joinLines, SESSION_ID, user } from "../../interop/import/support/claude-records.ts";
import { type CliSettings, cli, temporaryFolder } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";
import { folderWithTrash } from "./support/trash.ts";

const [ID, OTHER] = ["01a208e6-2750-70b8-82b3-b1193c019bb5", "01a208e6-9999-70b8-82b3-b1193c019bb5"];
const NAME = "Checkout rounding 合計";
const FAILURE = "expected 10.01 to be";

/** A project with two branches, a failure, a label, a long path, and wide characters; and another session. */
function project() {
  const folder = folderWithTrash();
  const sessions = join(folder, "sessions");
  mkdirSync(sessions);
  const scribe = new Scribe(sessions, ID, join(folder, "checkout"));
  const first = scribe.user(
    "Fix the rounding of totals: 合計が一円ずれる. The sums are wrong by a cent, in all orders.",
  );
  scribe.call("bash", { command: "npm test -- checkout/totals.test.ts --reporter verbose" });
  const failed = scribe.result(`FAIL checkout/totals.test.ts\nAssertionError: ${FAILURE} 10.02`, true);
  scribe.session.branch(first);
  scribe.call("edit", { path: "src/checkout/with/a/long/path/totals.ts" }, "call-2");
  scribe.result("done", false, "call-2");
  const leaf = scribe.assistant("Rounded once, per order. 完了しました: all tests pass now in this project.");
  scribe.session.appendLabelChange(leaf, "works after all of it");
  scribe.session.appendSessionInfo(NAME);
  scribe.work(20);
  const other = new Scribe(sessions, OTHER, join(folder, "other"));
  other.user("Something else about rounding");
  other.assistant("Yes.");
  const settings = (columns: number): CliSettings => ({
    columns,
    cwd: folder,
    env: { NO_COLOR: "1", PI_CODING_AGENT_SESSION_DIR: sessions },
  });
  return { failed, settings };
}

/** Matches what our lines cannot break: a path, or a command to be copied. */
const WHOLE = /^ *\S+$|^ *sessiontree |^\S+ {2}\/\S+(?: {2}\(|: )|^[\w ]+: \/\S+$/;

test("an import's output fits 40 columns", async () => {
  const home = temporaryFolder();
  const folder = join(home, ".claude", "projects", "-shop");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, `${SESSION_ID}.jsonl`),
    `${joinLines([user("q", null, "Find the leak")])}{"cut off\n`,
  );
  const settings: CliSettings = { columns: 40, cwd: home, env: { HOME: home, NO_COLOR: "1" } };
  const { stdout } = await cli(["import", "--all"], settings);
  expect(stdout.replace(/\s+/g, " ")).toContain("LINE_UNREADABLE: The line is not a JSON object.");
  expect(stdout.split("\n").filter((line) => measureWidth(line) > 40 && !WHOLE.test(line))).toEqual([]);
});

test.each([40, 80, 200])(
  "the commands' output fits %i columns, and keeps the important parts",
  async (columns) => {
    const { failed, settings } = project();
    const P = "01a208e6-2";
    const commands: [string[], ...string[]][] = [
      [["list", "--all"], "Checkout rounding", "Something else about"],
      [["tree", P], NAME.slice(0, 17), "Fix the rounding", "← leaf", "failed"],
      [["tree", P, "--all"], "works after"],
      [["show", P], "failures"],
      [["stats", P], "tool calls", "cost"],
      [["stats", "--all"], "total", "cost"],
      [["stats", "--all", "--by", "model"], "anthropic/claude", "cost"],
      [["search", "rounding", "--all"], "rounding"],
      [["search", "--failed", "--all"], FAILURE],
      [["diff", P, failed], FAILURE, "totals.ts"],
      [["context", P, "--tail", "5"], "npm test", "estimated"],
      [["context", P, "--before", failed], "Fix the rounding"],
      [["import"], "No sessions from other programs"],
      [["verify", P], "OK"],
      [["compact", P, "--dry-run"], "compact"],
      [["prune", "--older-than", "1h", "--dry-run", "--all"], "Checkout rounding", "to delete"],
      [["repair", P, "--dry-run"], "nothing to repair"],
      [["search", "nowhere"], "Nothing found"],
      [["show", "01a208e6"], "Checkout rounding"],
      [["help", "search"], "--failed", "compactionSummary"],
      [["--help"], "Exit codes"],
      [["rm", P, "--yes"], "In the trash"],
      [["restore"], "Checkout rounding"],
    ];
    for (const [words, ...needed] of process.platform === "linux" ? commands : commands.slice(0, -2)) {
      const { stdout, stderr } = await cli(words, settings(columns));
      const lines = stdout.split("\n").filter((line) => measureWidth(line) > columns && !WHOLE.test(line));
      expect(lines, words.join(" ")).toEqual([]);
      const said = `${stdout} ${stderr}`.replace(/\s+/g, " ");
      for (const text of needed) expect(said, words.join(" ")).toContain(text);
    }
  },
);
