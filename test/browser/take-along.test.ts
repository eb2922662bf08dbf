import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
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
  await page.getByRole("button", { name: "Download JSONL" }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe("session.jsonl");
  expect(readFileSync(await download.path()).equals(bytes)).toBe(true);
  expect(complaints).toEqual([]);
});

test.each([
  ["claude-code", "Continue it in Claude Code:", "claude --resume abc-1"],
  ["codex", "Continue it in Codex:", "codex resume abc-1"],
  ["gemini", "Continue it in Gemini CLI:", "gemini --resume abc-1"],
  [undefined, "Continue it in pi:", "pi --session session.jsonl"],
])("a session that was imported from %s continues there", async (source, purpose, command) => {
  const session = new SessionWriter(START);
  if (source !== undefined)
    session.add("custom", { customType: "sessiontree.import", data: { source, sourceId: "abc-1" } });
  session.user("Go.");
  const { page } = await open(session.text);
  await page.keyboard.press("c");
  const dialog = page.getByRole("dialog", { name: "Commands" });
  const rows = dialog.locator(".command:has(.terminal-line)");
  expect(await rows.first().textContent()).toBe(purpose + command);
  expect(await rows.nth(1).textContent()).toContain("sessiontree continue session.jsonl --in codex");
});

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
