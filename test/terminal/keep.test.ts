import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../apps/cli/support/cli.ts";
import { SESSIONTREE, TmuxTerminal } from "./support/tmux.ts";

test("an interrupt at the prompt of keep changes nothing, and a yes does", async () => {
  const folder = temporaryFolder();
  const settings = join(folder, ".claude", "settings.json");
  mkdirSync(join(folder, ".claude"));
  writeFileSync(settings, "{}");
  const env = { HOME: folder, XDG_DATA_HOME: join(folder, "data"), XDG_CACHE_HOME: join(folder, "cache") };
  const command = `${SESSIONTREE} keep; echo "ended with $?"; ${SESSIONTREE} keep; echo "then with $?"`;
  const terminal = new TmuxTerminal(command, { cwd: folder, env, columns: 200 });
  await terminal.shows("settings.json? [y/N]");
  terminal.press("C-c");
  await terminal.shows(/^sessiontree: Nothing was changed\.$/, "ended with 1");
  expect(readFileSync(settings, "utf8")).toBe("{}");
  await terminal.until(
    "to ask again",
    () => terminal.lines.filter((line) => line.includes("[y/N]")).length === 2,
  );
  terminal.type("y");
  terminal.press("Enter");
  await terminal.shows("then with 0");
  expect(readFileSync(settings, "utf8")).toContain("import --hook");
});
