import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, temporaryFolder } from "../apps/cli/support/cli.ts";
import { serve } from "../apps/cli/support/served.ts";
import { Scribe } from "../apps/cli/support/sessions.ts";
import { findingsOn } from "./support/axe.ts";
import { usePages } from "./support/browser.ts";

const { open } = usePages();

const idOf = (number: number) => `0198aaaa-0000-7000-8000-00000000000${number}`;

/** A folder with a session, its fork, its subagent's session, and a damaged session of another project. */
function someSessions() {
  const folder = temporaryFolder();
  const first = new Scribe(folder, idOf(1), "/projects/shop");
  first.user("Fix the rounding");
  first.assistant("Done.");
  const fork = new Scribe(folder, idOf(2), "/projects/shop", first.path);
  fork.user("Fix the rounding in another way");
  const subagent = new Scribe(folder, idOf(4), "/projects/shop", first.path);
  subagent.session.appendCustomEntry("sessiontree.subagent", { toolCallId: "call-1" });
  subagent.user("Look for other roundings");
  const damaged = new Scribe(folder, idOf(3), "/projects/notes");
  damaged.user("Write it down");
  const lost = damaged.assistant("Written.");
  damaged.user("Thanks.");
  // The line of an entry with a child is lost, which is two issues: the line and the missing parent.
  const lines = readFileSync(damaged.path, "utf8").split("\n");
  writeFileSync(
    damaged.path,
    lines.map((line) => (line.includes(`"id":"${lost}"`) ? "{broken" : line)).join("\n"),
  );
  return { folder, damaged };
}

test("the list marks forks and counts as many issues as the session's page and verify", async () => {
  const { folder, damaged } = someSessions();
  const { page } = await open((await serve([folder])).url);
  await page.locator(".session-row .chip:text-is('fork')").waitFor();
  expect(await page.locator(".session-row:has(.chip:text-is('fork')) h2").allTextContents()).toEqual([
    "Fix the rounding in another way",
  ]);
  const { stdout: listed } = await cli(["list", "--dir", folder], { columns: 120, env: { NO_COLOR: "1" } });
  expect(listed.match(/\(\w+\) .*/g)?.sort()).toEqual([
    "(fork) Fix the rounding in another way",
    "(subagent) Look for other roundings",
  ]);

  const { stdout } = await cli(["verify", damaged.path]);
  const [issues = ""] = /^\d+ issues?/.exec(stdout) ?? [];
  expect(await page.locator(".session-row .chip.is-removed").allTextContents()).toEqual([issues]);
  await page.locator(".session-row:has-text('Write it down') > a").first().click();
  await page.locator(".segments button[data-value=issues]").click();
  expect(await page.locator(".segments button[data-value=issues]").textContent()).toBe(
    `Issues ${issues.split(" ")[0]}`,
  );
  expect(await page.locator(".issue").count()).toBe(Number(issues.split(" ")[0]));
  // Even with every element next to it, the title has room.
  const head = { id: "a0b1c2d3", parentId: damaged.session.getLeafId(), timestamp: new Date().toISOString() };
  const message = { role: "user", content: "Go on.", timestamp: Date.now() };
  appendFileSync(damaged.path, `${JSON.stringify({ type: "message", ...head, message })}\n`);
  await page.setViewportSize({ width: 1024, height: 768 });
  await page.locator(".live").waitFor();
  expect((await page.locator(".title").boundingBox())?.width).toBeGreaterThan(150);
});

test("the list warns of damaged lines only while it shows such a session", async () => {
  const { folder } = someSessions();
  const { page } = await open((await serve([folder])).url);
  const note = page.locator(".index-note:has-text('1 session has damaged lines')");
  await note.waitFor();
  // The warning links to them.
  await note.getByRole("button").click();
  expect(await page.getByLabel("Order").inputValue()).toBe("issues");
  await page.getByLabel("Order").selectOption("");
  // The chart's values are also available as text.
  expect(await page.locator(".chart-reading").textContent()).toMatch(
    /^\d{4}-\d\d-\d\d · anthropic\/claude: –, \d+ tokens$/,
  );
  await page.getByLabel("Project").selectOption("/projects/shop");
  await note.waitFor({ state: "detached" });
  await page.getByLabel("Project").selectOption("/projects/notes");
  await note.waitFor();
});

test("the help of the list explains each form of a cost, and its absence", async () => {
  const { folder } = someSessions();
  const { page } = await open((await serve([folder])).url);
  await page.getByRole("button", { name: "Keys and signs" }).click();
  const signs = await page.locator(".help dl").last().locator("dt").allTextContents();
  expect(signs.slice(-3)).toEqual(["~$0.20", "–", "no cost"]);
});

test("the number of failures in a row leads to the first of them, the rest of the row to the beginning", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder, idOf(1), "/projects/shop");
  scribe.user("Run the tests");
  scribe.call("bash", { command: "npm test" });
  const failure = scribe.result("1 test failed", true);
  scribe.call("bash", { command: "npm run lint" }, "call-2");
  scribe.result("3 errors", true, "call-2");
  const { page, complaints } = await open((await serve([folder])).url);
  await page.getByText("2 failed").click();
  await page.locator(".tool-use.is-failed pre:has-text('1 test failed')").waitFor();
  expect(new URL(page.url()).hash).toBe(`#entry=${failure}`);
  await page.goBack();
  await page.locator(".session-row h2").click();
  await page.locator(".entry").first().waitFor();
  expect(new URL(page.url()).hash).toBe("");
  expect(complaints).toEqual([]);
});

test("the chart states what a day cost in total, and by model", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder, idOf(1), "/projects/shop");
  scribe.user("Fix the rounding");
  for (const [model, total] of [
    ["acorn-2", 0.5],
    ["birch-1", 0.25],
  ] as const) {
    const cost = { input: total, output: 0, cacheRead: 0, cacheWrite: 0, total };
    const usage = { input: 1000, output: 500, cacheRead: 0, cacheWrite: 0, totalTokens: 1500, cost };
    scribe.assistant("Done.", { model, usage });
  }
  const { page } = await open((await serve([folder])).url);
  await expect
    .poll(() => page.locator(".chart-reading").textContent())
    .toMatch(/^\d{4}-\d\d-\d\d: \$0\.75 · anthropic\/acorn-2: \$0\.50, .* · anthropic\/birch-1: \$0\.25, /);
});

test("the list has keys, and help lists them", async () => {
  const { folder } = someSessions();
  const { page, complaints } = await open((await serve([folder])).url);
  await page.keyboard.press("?");
  const help = page.locator("dialog.help");
  await help.waitFor();
  expect(await help.textContent()).toContain("next and previous session");
  expect(await help.textContent()).toContain("started as a copy of another session");
  expect(await findingsOn(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  const focused = page.locator(".session-row > a:focus h2");
  const titles = await page.locator(".session-row h2").allTextContents();
  for (const [key, at] of [
    ["j", 0],
    ["j", 1],
    ["k", 0],
  ] as const) {
    await page.keyboard.press(key);
    expect(await focused.textContent(), key).toBe(titles[at]);
  }
  // In the field they are letters.
  await page.keyboard.press("/");
  await page.keyboard.type("j?");
  expect(await page.getByRole("textbox").inputValue()).toBe("j?");
  await page.keyboard.press("Escape");
  expect(await page.getByRole("textbox").inputValue()).toBe("");
  // Another Escape returns to the list.
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  expect(await focused.textContent()).toBe(titles[0]);
  await page.getByRole("button", { name: "Keys and signs" }).click();
  await help.waitFor();
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  await page.locator(".session-row > a").first().focus();
  await page.keyboard.press("Enter");
  await page.locator(".page").waitFor();
  expect(complaints).toEqual([]);
});

test("issues show commands to check and repair the file, and the page commands to continue the session", async () => {
  const { folder, damaged } = someSessions();
  const message = { role: "user", content: "Whose id is this?" };
  const strange = { type: "message", id: "$(x) 'y", parentId: damaged.session.getLeafId(), message };
  appendFileSync(
    damaged.path,
    `${JSON.stringify({ ...strange, timestamp: "2026-11-23T12:00:00.000Z" })}\n{torn`,
  );
  const { page, complaints } = await open((await serve([join(folder)])).url, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.locator(".session-row:has-text('Write it down') > a").first().click();
  await page.locator(".segments button[data-value=issues]").click();
  for (const command of [`sessiontree verify ${damaged.path}`, `sessiontree repair ${damaged.path}`]) {
    await page.getByRole("button", { name: `Copy ${command}` }).click();
    await expect.poll(copied).toBe(command);
    const [, ...args] = command.split(" ");
    expect((await cli([...args, ...(args[0] === "repair" ? ["--dry-run"] : [])])).code).toBe(1);
  }
  await page.locator(".segments button[data-value=path]").click();
  const id = (await page.locator(".entry").first().getAttribute("data-entry")) ?? "";
  await page.locator(".entry").first().click();
  await page.keyboard.press("c");
  const dialog = page.locator("dialog:has-text('In a terminal')");
  await dialog.waitFor();
  expect(await findingsOn(page)).toEqual([]);
  expect(await dialog.textContent()).toContain(`pi --session ${damaged.path}`);
  expect(await dialog.textContent()).toContain("sessiontree resume");
  await dialog.getByRole("button", { name: `Copy sessiontree fork ${damaged.path} ${id}` }).click();
  await dialog.waitFor({ state: "detached" });
  const [, ...args] = (await copied()).split(" ");
  const { code, stdout } = await cli(args);
  expect(code).toBe(0);
  expect(readFileSync(stdout.trim(), "utf8")).toContain(id);
  // Any ID is one word to a shell.
  await page.keyboard.press("L");
  await page.keyboard.press("End");
  await page.keyboard.press("c");
  await dialog.getByText(`sessiontree fork ${damaged.path} '$(x) '\\''y'`).waitFor();
  expect(complaints).toEqual([]);
});

test("the list and a session's page show the same cost, estimated or not, with subagents and after a fork", async () => {
  const folder = temporaryFolder();
  const used = {
    model: "acorn-2",
    usage: {
      ...{ input: 1000, output: 500, cacheRead: 0, cacheWrite: 0, totalTokens: 1500 },
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
  };
  const first = new Scribe(folder, idOf(1), "/projects/shop");
  first.user("Fix the rounding");
  first.assistant("Done.", used);
  const fork = first.session.getLeafId() ?? "";
  first.user("And the tests?");
  first.assistant("Green.", used);
  const child = new Scribe(folder, idOf(2), "/projects/shop", first.path);
  child.session.appendCustomEntry("sessiontree.subagent", { toolCallId: "call-1" });
  child.user("Look behind the lighthouse");
  child.assistant("There is one.", used);
  const { stdout } = await cli(["fork", first.path, fork]);
  expect(stdout).not.toBe("");
  const prices = join(folder, "prices.json");
  writeFileSync(prices, JSON.stringify({ "acorn-2": { input: 100, output: 200 } }));
  const { url } = await serve([folder, "--prices", prices]);
  const { page, complaints } = await open(url);
  const row = page.locator(".session-row").filter({ hasText: "1 subagent" });
  expect(await row.locator(".session-cost > :first-child").textContent()).toBe("~$0.60");
  await row.locator("a").first().click();
  const header = page.locator(".title p");
  await page.locator(".title p:has-text('cost ~$0.60')").waitFor();
  expect(await header.getAttribute("title")).toMatch(/^cost ~\$0\.60: .*, on all branches; estimated\n/);
  const turns = page.locator(".entry.tone-user .entry-facts");
  await expect.poll(() => turns.first().textContent()).toMatch(/^turn: 1 call · ~\$0\.20/);
  expect(await page.locator(".entry.tone-assistant .entry-facts").first().textContent()).toMatch(
    /^~\$0\.20 · 1,000 in, 500 out/,
  );
  await page.keyboard.press("u");
  const tile = page.locator(".tile:has(.tile-name:text-is('Cost')) .tile-value");
  expect(await tile.textContent()).toBe("~$0.40");
  await page.getByText("The list of sessions shows ~$0.60").waitFor();
  expect(await page.locator(".call-table td:nth-child(2)").allTextContents()).toEqual(["~$0.20", "~$0.20"]);
  expect(await findingsOn(page)).toEqual([]);
  first.user("Once more.");
  first.assistant("There.", used);
  await expect.poll(() => header.textContent()).toMatch(/^cost ~\$0\.80/);
  await expect.poll(() => tile.textContent()).toBe("~$0.60");
  // The entries that the fork shares with its parent are counted there.
  await page.goto(url);
  const copy = page.locator(".session-row").filter({ has: page.locator(".chip:text-is('fork')") });
  await page.locator(".session-cost").first().waitFor();
  expect(await copy.locator(".session-cost").count()).toBe(0);
  await copy.locator("a").first().click();
  await page.locator(".live").waitFor({ state: "attached" });
  await expect.poll(() => header.textContent()).not.toContain("~");
  expect(complaints).toEqual([]);
});
