import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { temporaryFolder } from "../apps/cli/support/cli.ts";
import { Scribe } from "../apps/cli/support/sessions.ts";
import { SESSIONTREE, TmuxTerminal } from "./support/tmux.ts";

/** Creates a project with a session whose first message is longer than a line. */
function project() {
  const folder = temporaryFolder();
  const sessions = join(folder, "sessions");
  mkdirSync(sessions);
  const scribe = new Scribe(sessions, "0198aaaa-0000-7000-8000-000000000001", folder);
  scribe.user(`Find ${"the bug ".repeat(30)}at last`);
  scribe.assistant("Found.");
  return { scribe, settings: { cwd: folder, env: { PI_CODING_AGENT_SESSION_DIR: sessions } } };
}

test("a terminal gets columns with titles, and a pipe complete fields", async () => {
  const { settings } = project();
  const terminal = new TmuxTerminal(
    `${SESSIONTREE} list; ${SESSIONTREE} list | cut -f 6 | grep -c 'the bug at last$'; ${SESSIONTREE} tree | cut -f 3 | paste -s -`,
    settings,
  );
  await terminal.shows(/^id +last used +messages +name$/, /Find the bug .*…$/, /^1$/, /^user\s+assistant$/);
});

test("a session is read from a pipe, and a fork prints its path for the next command", async () => {
  const { scribe, settings } = project();
  const terminal = new TmuxTerminal(
    `cat ${scribe.path} | ${SESSIONTREE} tree - | cut -f 3 | paste -s -; ${SESSIONTREE} verify "$(${SESSIONTREE} fork @last)" | cut -c 1-3; ${SESSIONTREE} search nowhere @last; echo "ended with $?"`,
    settings,
  );
  await terminal.shows(
    /^user\s+assistant$/,
    /^Copied 2 entries into session /,
    /^OK/,
    "Nothing found for nowhere.",
    "ended with 1",
  );
});
