import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findingsOn } from "./support/axe.ts";
import { useBrowser } from "./support/browser.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

const START = { provider: "acme", model: "acorn-2" };

test("saves the session's file byte for byte, including damage", async () => {
  const session = new SessionWriter(START);
  session.user("Größe?\u2028");
  session.line("{torn");
  const bytes = Buffer.concat([
    Buffer.from(session.text),
    Buffer.from([0xff, 0x00, 0x0d, 0x0a]),
    Buffer.from("end"),
  ]);
  const { page, complaints } = await open(bytes, { acceptDownloads: true });
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download", exact: true }).click();
  await page.getByRole("button", { name: "Download JSONL" }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe("session.jsonl");
  expect(readFileSync(await download.path()).equals(bytes)).toBe(true);
  expect(complaints).toEqual([]);
});

test("the branch that is shown is saved as Markdown, to read", async () => {
  const session = new SessionWriter(START);
  session.user("Which way?");
  const fork = session.leaf;
  session.assistant("To the left.");
  session.leaf = fork;
  session.assistant("To the *right*.");
  const { page, complaints } = await open(session.text, { acceptDownloads: true });
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download", exact: true }).click();
  expect(await findingsOn(page)).toEqual([]);
  await page.getByRole("button", { name: "Download Markdown" }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe("session.md");
  const text = readFileSync(await download.path(), "utf8");
  expect(text).toMatch(/^# Which way\?\n/);
  expect(text).toMatch(/## 1\. User .*\n\nWhich way\?\n\n### Assistant · acorn-2 .*\n\nTo the \*right\*\.\n/);
  expect(text).not.toContain("To the left.");
  expect(await page.locator("dialog").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test.each([
  ["claude-code", "Continue it in Claude Code:", "cd /home/ada/till && claude --resume abc-1", "codex"],
  ["codex", "Continue it in Codex:", "cd /home/ada/till && codex resume abc-1", "claude-code"],
  ["gemini", "Continue it in Gemini CLI:", "cd /home/ada/till && gemini --resume abc-1", "codex"],
  [undefined, "Continue it in pi:", "pi --session session.jsonl", "codex"],
])(
  "a session imported from %s continues there, and in another program",
  async (source, purpose, command, other) => {
    const session = new SessionWriter(START);
    if (source !== undefined)
      session.add("custom", { customType: "sessiontree.import", data: { source, sourceId: "abc-1" } });
    session.user("Go.");
    const { page } = await open(session.text);
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Commands" });
    const rows = dialog.locator(".command:has(.terminal-line)");
    expect(await rows.first().textContent()).toBe(purpose + command);
    expect(await rows.nth(1).textContent()).toContain(`sessiontree continue session.jsonl --in ${other}`);
    const rest = await dialog.locator("p.command").textContent();
    expect(rest).toContain(
      other === "codex" ? "--in also takes " : "--in also takes gemini, opencode, and pi.",
    );
    expect(rest).not.toContain(source ?? "pi.");
  },
);

test("a session of a program without a resume command continues in another one", async () => {
  const session = new SessionWriter(START);
  session.add("custom", { customType: "sessiontree.import", data: { source: "cline", sourceId: "x" } });
  session.user("Go.");
  const { page } = await open(session.text);
  await page.keyboard.press("c");
  const rows = page.locator(".command:has(.terminal-line)");
  expect(await rows.first().textContent()).toContain("sessiontree continue");
});

test("a name set a year later does not extend the session's duration", async () => {
  const session = new SessionWriter(START);
  session.user("Go.");
  session.assistant("Done.");
  const { page: before } = await open(session.text);
  const facts = (await before.locator(".title p").textContent()) ?? "";
  expect(facts).toContain(" · 20 s · ");
  const late = { type: "session_info", id: "late0001", parentId: session.leaf, name: "Named" };
  session.line(JSON.stringify({ ...late, timestamp: "2027-02-03T09:00:00.000Z" }));
  const { page } = await open(session.text);
  expect(await page.locator(".title h1").textContent()).toBe("Named");
  expect(await page.locator(".title p").textContent()).toBe(facts);
});
