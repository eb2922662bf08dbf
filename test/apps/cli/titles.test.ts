import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFileSource } from "../../../src/apps/recall/session-source.ts";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { modelOfText } from "../page/support/session.ts";
import { ask, recallOver } from "../recall/support/past.ts";
import { cli, jsonLines, TERMINAL, temporaryFolder } from "./support/cli.ts";
import { readData } from "./support/page-data.ts";
import { serve } from "./support/served.ts";
import { Scribe } from "./support/sessions.ts";
import { FakeTerminal } from "./support/terminal.ts";

const ID = "0198aaaa-0000-7000-8000-000000000001";
const TITLE = "Fix the rounding of receipts";

/** A session that begins with context, a command, and a prompt that was aborted. */
function makeSession() {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder, ID, "/projects/till");
  scribe.user("# AGENTS.md instructions for /projects/till\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>");
  scribe.user("<command-message>init</command-message>\n<command-name>/init</command-name>");
  scribe.assistant("I wrote AGENTS.md.");
  scribe.user("Delete everything");
  scribe.assistant("", { content: [], stopReason: "aborted" });
  scribe.user("[Request interrupted by user]");
  scribe.user(`## ${TITLE}`);
  scribe.assistant("Receipts are exact now.");
  return { folder, path: scribe.path };
}

type Made = ReturnType<typeof makeSession>;

describe("the title is the first prompt with an answer", () => {
  test.each([
    ["list", ({ folder }: Made) => ["list", "--dir", folder]],
    ["show", ({ path }: Made) => ["show", path]],
    ["tree", ({ path }: Made) => ["tree", path]],
    ["stats", ({ path }: Made) => ["stats", path]],
    ["stats across sessions", ({ folder }: Made) => ["stats", "--by", "session", "--dir", folder]],
    ["search", ({ folder }: Made) => ["search", "exact", "--dir", folder]],
    ["prune", ({ folder }: Made) => ["prune", "--older-than", "1d", "--dry-run", "--dir", folder]],
    ["a transcript", ({ path }: Made) => ["export", path, "--markdown"]],
  ])("in %s", async (_, makeArgs) => {
    const { lines } = await cli(makeArgs(makeSession()), { ...TERMINAL, columns: 160 });
    expect(lines.slice(0, 6).join("\n")).toContain(TITLE);
    expect(lines.slice(0, 3).join("\n")).not.toMatch(/AGENTS|init|Delete/);
  });

  test("in a list for programs, which has the first message as before", async () => {
    const { folder } = makeSession();
    const [row] = jsonLines(await cli(["list", "--dir", folder, "--json"]));
    expect(row).toMatchObject({ title: TITLE, firstMessage: expect.stringMatching(/^# AGENTS/) });
    expect((await cli(["list", "--dir", folder])).stdout.split("\t")[5]).toBe(TITLE);
    const [info] = await SessionManager.list("/projects/till", folder);
    expect(info).toMatchObject({ title: TITLE, firstMessage: expect.stringMatching(/^# AGENTS/) });
  });

  test("in the picker", async () => {
    const { folder } = makeSession();
    const terminal = new FakeTerminal();
    const result = cli(["resume", "--dir", folder], { terminal });
    await terminal.shows(new RegExp(`❯ .* ${TITLE}$`));
    terminal.press("\u0003");
    await result;
  });

  test("on the page of the session, and on the page of the list", async () => {
    const { folder, path } = makeSession();
    expect(modelOfText(readFileSync(path)).title).toBe(TITLE);
    const { url } = await serve([folder]);
    expect(readData(await (await fetch(url)).text(), "sessions")).toMatchObject({
      sessions: [{ title: TITLE }],
    });
  });

  test("in answers to agents, with and without hidden secrets", async () => {
    const { folder } = makeSession();
    for (const hide of [undefined, (texts: readonly string[]) => texts.map((text) => text)]) {
      const recall = recallOver(makeFileSource({ sessionDir: folder }), "/projects/till", { hide });
      const { text } = await ask(recall, "search_sessions", { query: "exact" });
      expect(text).toContain(`session ${ID} · ${TITLE} · `);
      expect((await ask(recall, "session_overview", { session: ID })).text).toContain(TITLE);
    }
  });

  test("in the session that OpenCode continues", async () => {
    const { path } = makeSession();
    const { files } = exportFor("opencode", SessionManager.open(path));
    const [document = ""] = files.map(({ bytes }) => new TextDecoder().decode(bytes));
    expect(JSON.parse(document).info.title).toBe(TITLE);
  });
});

test("a name is the title, and the title changes as the session grows", async () => {
  const home = temporaryFolder();
  const scribe = new Scribe(join(home, "sessions"), ID, home);
  const options = { sessionDir: join(home, "sessions") };
  const getTitle = async () =>
    Object(jsonLines(await cli(["list", "--dir", options.sessionDir, "--json"], { env: { HOME: home } }))[0])
      .title;
  scribe.user("/clear");
  expect(await getTitle()).toBe("/clear");
  scribe.user("Print the receipts");
  expect(await getTitle()).toBe("Print the receipts");
  scribe.assistant("", { content: [], stopReason: "aborted" });
  expect(await getTitle()).toBe("Print the receipts");
  scribe.user("Print two receipts");
  expect(await getTitle()).toBe("Print two receipts");
  scribe.assistant("Done.");
  scribe.user("Once more");
  expect(await getTitle()).toBe("Print two receipts");
  scribe.session.appendSessionInfo("Printer");
  expect(await getTitle()).toBe("Printer");
  expect((await cli(["tree", scribe.path], TERMINAL)).lines[0]).toBe("Printer");
});
