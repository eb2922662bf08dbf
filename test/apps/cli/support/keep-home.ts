import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CliResult, type CliSettings, cli, jsonLines, temporaryFolder } from "./cli.ts";

/** Path of Claude Code's settings. */
export const CLAUDE = ".claude/settings.json";
/** Path of their copy. */
export const BACKUP = `${CLAUDE}.sessiontree-backup`;
/** Path of the program that hooks call. */
export const HOOK = "sessiontree import --hook";

/** Settings in a person's layout. */
export const SETTINGS = `{
  // what I like
  "model": "opus",
  "hooks": {
    "Stop": [
      { "hooks": [{ "type": "command", "command": "say done" }] } // speak
    ]
  },
  "cleanupPeriodDays": 99
}
`;

/** A home folder with the program in its `PATH`, and the command line in it. */
export function makeHome() {
  const folder = temporaryFolder();
  const home = join(folder, "home");
  const put = (path: string, content: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  };
  put("bin/sessiontree", "");
  const read = (path: string) => readFileSync(join(home, path), "utf8");
  const keep = (line: string, more: CliSettings = {}): Promise<CliResult> =>
    cli(["keep", ...line.split(" ").filter((word) => word !== "")], {
      cwd: home,
      env: { HOME: home, PATH: join(home, "bin") },
      ...more,
    });
  const record = join(folder, "data", "sessiontree", "keep.json");
  const list = (path: string) => readdirSync(join(home, path)).sort();
  return { home, put, read, keep, list, record, data: join(folder, "data", "sessiontree") };
}

/** A home folder with Claude Code and its settings. */
export function makeClaudeHome(settings = SETTINGS) {
  const made = makeHome();
  made.put(CLAUDE, settings);
  return made;
}

/** Returns the state of the hooks of Claude Code. */
export async function getState({ keep }: Pick<ReturnType<typeof makeHome>, "keep">): Promise<unknown> {
  const [first] = jsonLines(await keep("claude-code --status --json"));
  return first instanceof Object && "hook" in first ? first.hook : undefined;
}
