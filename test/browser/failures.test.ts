import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { cli, temporaryFolder } from "../apps/cli/support/cli.ts";
import { useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

/** The focused entry: that of a card, or the result within one. */
async function focusedEntry(page: Page): Promise<string | null> {
  return page.locator(".entry.is-focused, .tool-use.is-focused").getAttribute("data-entry");
}

async function waitForFocus(page: Page, id: string): Promise<void> {
  await page.locator(`.is-focused[data-entry="${id}"]`).waitFor();
}

const redness = (element: Element) => {
  const [red = 0, green = 0, blue = 0] = getComputedStyle(element).color.match(/\d+/g)?.map(Number) ?? [];
  return red - Math.max(green, blue);
};

test("a key moves from failure to failure, wraps around, crosses branches, and opens each", async () => {
  const { text, failures } = failingSession();
  const { page } = await open(text);
  for (const id of [...failures, failures[0] ?? ""]) {
    await page.keyboard.press("f");
    await waitForFocus(page, id);
    expect(await focusedEntry(page)).toBe(id);
    await expect.poll(() => page.locator(`.is-focused[data-entry="${id}"]`).isVisible()).toBe(true);
  }
  expect(await page.locator(".tool-use.is-focused .output .fold-body").textContent()).toContain(
    "no such script",
  );
  await page.keyboard.press("F");
  await waitForFocus(page, failures.at(-1) ?? "");
  expect(await page.locator(".failures").textContent()).toBe("4 of 4 failed");
});

test("a button shows the number of failures and moves to the next one, also on a phone", async () => {
  const { text, failures } = failingSession();
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    const { page } = await open(text, { viewport });
    expect(await page.locator(".failures").textContent()).toBe("4 failed");
    const button = page.getByRole("button", { name: "Next failure" });
    const box = await button.boundingBox();
    expect((box?.x ?? viewport.width) + (box?.width ?? 0)).toBeLessThanOrEqual(viewport.width);
    await button.click();
    await waitForFocus(page, failures[0] ?? "");
    await page.getByRole("button", { name: "Previous failure" }).click();
    await waitForFocus(page, failures[3] ?? "");
  }
});

test("scrolls to a failure far down in a block of parallel calls", async () => {
  const { text, failures } = failingSession();
  const { page } = await open(text);
  await page.keyboard.press("e");
  await page.keyboard.press("f");
  await page.keyboard.press("f");
  await waitForFocus(page, failures[1] ?? "");
  const isInSight = () =>
    page.locator(".tool-use.is-focused").evaluate((block) => {
      const list = block.closest(".conversation")?.getBoundingClientRect();
      const box = block.getBoundingClientRect();
      return list !== undefined && box.top < list.bottom && box.bottom > list.top;
    });
  await expect.poll(isInSight).toBe(true);
});

test("the tree, its filter, and the folds show the error, which is usually at the end of an output", async () => {
  const { text, failures } = failingSession();
  const { page } = await open(text);
  const lines = [
    "no such script",
    "exit code 1: AssertionError: expected 3 to be 4",
    "exit code 2: broken",
    "overloaded",
  ];
  for (const [index, id] of failures.entries()) {
    await page.keyboard.press("f");
    await waitForFocus(page, id);
    const row = page.locator(`.tree-row.is-failed:has([data-entry="${id}"])`);
    expect(await row.locator(".tree-text").textContent()).toBe(lines[index]);
  }
  const folded = page.locator(`.tool-use[data-entry="${failures[1]}"] .result .fold-excerpt`);
  expect(await folded.textContent()).toBe(lines[1]);
  const command = page.locator(`.entry[data-entry="${failures[2]}"] .result .fold-excerpt`);
  expect(await command.textContent()).toBe(lines[2]);
  await page.locator('[data-filter="mark:failed"]').click();
  const hits = page.locator(".hit");
  await hits.nth(3).waitFor();
  const found = await hits.evaluateAll((all) =>
    all.map((hit) => Array.from(hit.querySelectorAll(".hit-text"), ({ textContent }) => textContent)),
  );
  expect(found).toEqual([
    ["npm run nothing", lines[0]],
    ["npm test three", lines[1]],
    ["$ make", lines[2]],
    [lines[3]],
  ]);
});

test("failures are red in the tree and in the conversation", async () => {
  const { text, failures } = failingSession();
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await open(text, { colorScheme });
    for (const id of failures) {
      await page.keyboard.press("f");
      await waitForFocus(page, id);
      const row = page.locator(`.tree-row.is-failed:has([data-entry="${id}"]) .tree-text`);
      expect(await row.evaluate(redness), id).toBeGreaterThan(40);
    }
    await page.keyboard.press("F");
    await page.keyboard.press("F");
    const result = page.locator(`.tool-use.is-failed[data-entry="${failures[1]}"] .result .fold-excerpt`);
    expect(await result.evaluate(redness)).toBeGreaterThan(40);
    expect(
      await page.locator(".tool-use:not(.is-failed) .result .fold-excerpt").first().evaluate(redness),
    ).toBeLessThan(20);
  }
});

test("each parallel call is in one block with its result, and the blocks are easy to distinguish", async () => {
  const { text, parallel, results } = failingSession();
  const { page } = await open(text, { hash: `#entry=${parallel}` });
  const blocks = page.locator(`.entry[data-entry="${parallel}"] .tool-use`);
  await blocks.nth(2).waitFor();
  const seen = await blocks.evaluateAll((all) =>
    all.map((block) => [
      block.getAttribute("data-entry"),
      block.querySelector(".call .fold-excerpt")?.textContent,
      block.querySelector(".result .fold-excerpt")?.textContent?.slice(0, 16).trim(),
    ]),
  );
  expect(seen.map(([id]) => id)).toEqual([results[1], results[0], results[2]]);
  expect(seen.map(([, call]) => call)).toEqual(["npm test one", "npm test two", "npm test three"]);
  expect(seen.map(([, , result]) => result?.slice(0, 13))).toEqual([
    "output of one",
    "output of two",
    "exit code 1: ",
  ]);
  // The result has no card but a style of its own.
  expect(await page.locator(`.entry[data-entry="${results[0]}"]`).count()).toBe(0);
  const [call, result] = await Promise.all(
    [".call", ".result"].map((part) =>
      blocks
        .first()
        .locator(part)
        .evaluate((one) => getComputedStyle(one).backgroundColor),
    ),
  );
  expect(call).not.toBe(result);
  expect(await blocks.first().locator(".call .sr-only").textContent()).toBe("call: ");
  expect(await blocks.first().locator(".result .sr-only").textContent()).toBe("result: ");
});

test("an address points to a result within its block", async () => {
  const { text, results } = failingSession();
  const { page } = await open(text, { hash: `#entry=${results[0]}` });
  await waitForFocus(page, results[0] ?? "");
  await page.keyboard.press("j");
  await waitForFocus(page, results[1] ?? "");
});

test("shows what the model saw when it called the failed tool, and with the result", async () => {
  const { text, parallel, results } = failingSession();
  const { page } = await open(text, { hash: `#entry=${parallel}` });
  await page
    .locator(`.entry[data-entry="${parallel}"]`)
    .getByLabel("What the model saw when it wrote this")
    .click();
  const view = page.locator("[aria-label='What the model sees']");
  await view.locator(".entry.is-focused:has-text('Answer 59')").waitFor();
  expect(await view.locator(`.entry[data-entry="${parallel}"]`).count()).toBe(0);

  await page.goto(`${page.url().split("#")[0]}#entry=${results[2]}`);
  const block = page.locator(`.tool-use[data-entry="${results[2]}"]`);
  await block.getByLabel("What the model saw when it made this call").click();
  await view.locator(".entry.is-focused:has-text('Answer 59')").waitFor();
  await page.locator(".path-bar").getByText("with the result").click();
  await view.locator(`.tool-use.is-focused[data-entry="${results[2]}"]`).waitFor();
});

test("for a result, the page and the command line show the context before its call, and the page also with it", async () => {
  const { text, failures, parallel } = failingSession();
  const path = join(temporaryFolder(), "session.jsonl");
  writeFileSync(path, text);
  const { page } = await open(text, { hash: `#entry=${failures[1]}` });
  await waitForFocus(page, failures[1] ?? "");
  await page.keyboard.press("m");
  const bar = page.locator(".path-bar.is-asked");
  const chosen = bar.locator("[aria-pressed=true]");
  const messagesOf = async (option: string) => {
    const { stdout } = await cli(["context", path, option, failures[1] ?? "", "--json"]);
    return JSON.parse(stdout).messages.length as number;
  };
  const shown = async () =>
    /(\d+) messages/.exec(
      (await bar.locator(".path-facts > span:has-text('messages')").textContent()) ?? "",
    )?.[1];
  expect(await chosen.textContent()).toBe("before the call");
  expect(await shown()).toBe(String(await messagesOf("--before")));
  expect(await page.locator(`.entry[data-entry="${parallel}"]`).count()).toBe(0);
  await bar.getByText("with the result").click();
  await waitForFocus(page, failures[1] ?? "");
  expect(await chosen.textContent()).toBe("with the result");
  expect(await shown()).toBe(String(await messagesOf("--leaf")));
  // This is a separate step of the browser's history.
  await page.goBack();
  await expect.poll(() => chosen.textContent()).toBe("before the call");
  await page.reload();
  await expect.poll(() => chosen.textContent()).toBe("before the call");
});

test("the bar shows the answer's cost, on one line at 1280 pixels", async () => {
  const { text, failures, parallel } = failingSession();
  const path = join(temporaryFolder(), "session.jsonl");
  writeFileSync(path, text);
  const { stdout } = await cli(["context", path, "--before", failures[1] ?? ""]);
  const cost = /\$[\d.]+/.exec(stdout)?.[0] ?? "none";
  const { page } = await open(text, { viewport: { width: 1280, height: 800 } });
  for (const id of [failures[1], parallel]) {
    for (const side of ["before", "with"]) {
      await page.goto(`${page.url().split("#")[0]}#entry=${id}`);
      await waitForFocus(page, id ?? "");
      await page.keyboard.press("m");
      const bar = page.locator(".path-bar.is-asked");
      await bar.locator(`[data-value=${side}]`).click();
      expect(await bar.locator(".answer-cost").textContent()).toBe(`answer ${cost}`);
      expect((await bar.boundingBox())?.height).toBeLessThan(48);
      const facts = await bar.locator(".path-facts").boundingBox();
      const end = (facts?.x ?? 0) + (facts?.width ?? 0);
      // Number, size, and cost are complete; later facts may be hidden.
      for (const fact of await bar.locator(".path-facts > span").all()) {
        const box = await fact.boundingBox();
        const isWhole = (box?.x ?? 0) + (box?.width ?? 0) <= end + 1;
        if (/answer|tokens|messages/.test((await fact.textContent()) ?? "")) expect(isWhole, side).toBe(true);
      }
    }
  }
});

test("a key shows the context of the focused entry, regardless of how it got the focus", async () => {
  const { text, failures, parallel, results, single } = failingSession();
  const { page } = await open(text, { hash: `#entry=${parallel}` });
  const asked = (id: string) => page.locator(`.path-bar.is-asked:has-text("${id}")`);
  await waitForFocus(page, parallel);
  // By clicking it.
  await page.locator(`.tool-use[data-entry="${results[1]}"] .result .fold-summary`).click();
  await waitForFocus(page, results[1] ?? "");
  await page.keyboard.press("m");
  await asked(results[1] ?? "").waitFor();
  // By pressing a key in the view of what the model saw.
  await page.keyboard.press("k");
  const marked = (await focusedEntry(page)) ?? "";
  await page.keyboard.press("m");
  await asked(marked).waitFor();
  // By following a link to what it saw.
  await page.goto(`${page.url().split("#")[0]}#entry=${single}&view=model`);
  await waitForFocus(page, single);
  await page.keyboard.press("m");
  await asked(single).waitFor();
  await page.keyboard.press("m");
  await page.locator(".conversation[aria-label='Conversation']").waitFor();
  await waitForFocus(page, single);
  // By moving the focus with the Tab key.
  await page.locator(`.tool-use[data-entry="${single}"] .call .fold-summary`).focus();
  await page.locator(`.tool-use[data-entry="${single}"] .result .fold-summary`).focus();
  await page.keyboard.press("m");
  await asked(single).waitFor();
  expect(failures).not.toContain(single);
});

test("the last message before an answer is completely visible", async () => {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  for (let turn = 0; turn < 40; turn++) {
    session.user(`Question ${turn}\n\n${"words ".repeat((turn * 37) % 150)}`);
    session.assistant(`${"An answer in words. ".repeat((turn * 53) % 90)}`);
  }
  session.user(`Decide.\n\n${"- a point that matters\n".repeat(12)}`);
  const answer = session.assistant("So it is.");
  session.tool("bash", { command: "make" }, "ok");
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    const { page } = await open(session.text, { viewport, hash: `#entry=${answer}` });
    await waitForFocus(page, answer);
    await page.keyboard.press("m");
    await page.locator("[aria-label='What the model sees'] .is-focused").waitFor();
    const room = () =>
      page.locator(".is-focused").evaluate((one) => {
        const list = one.closest(".conversation")?.getBoundingClientRect();
        return (list?.bottom ?? 0) - one.getBoundingClientRect().bottom;
      });
    await expect.poll(room).toBeGreaterThanOrEqual(8);
  }
});

test("the bar shows the model that wrote the answer, not that of the previous answer", async () => {
  const writer = new SessionWriter({ provider: "acme", model: "small" });
  writer.user("Hello.");
  writer.assistant("Hello.");
  writer.user("And the large one?");
  writer.model = { provider: "acme", model: "large" };
  const answer = writer.assistant("Here.");
  const { page } = await open(writer.text);
  await page
    .locator(`.entry[data-entry="${answer}"] > .entry-head`)
    .getByLabel("What the model saw when it wrote this")
    .click();
  const bar = page.locator(`.path-bar:has-text("The model saw"):has-text("${answer}")`);
  await bar.waitFor();
  expect(await bar.textContent()).toContain("large");
});

test("a key shows what the model saw at a failure and returns; so does the browser's Back button", async () => {
  const { text, failures, parallel, results } = failingSession();
  const { page } = await open(text);
  const bar = page.locator(".path-bar");
  await page.keyboard.press("f");
  await page.keyboard.press("f");
  await waitForFocus(page, failures[1] ?? "");
  await page.keyboard.press("m");
  await page.locator(`.path-bar.is-asked:has-text("tool result ${failures[1]}")`).waitFor();
  await page.locator(".path-bar").getByText("with the result").click();
  const view = page.locator("[aria-label='What the model sees']");
  await view.locator(`.tool-use.is-focused[data-entry="${failures[1]}"]`).waitFor();
  // No later entries.
  expect(await view.textContent()).not.toContain("Go on.");
  expect(await view.locator(".entry").last().getAttribute("data-entry")).toBe(parallel);
  await page.keyboard.press("m");
  await page.locator(".conversation[aria-label='Conversation']").waitFor();
  await waitForFocus(page, failures[1] ?? "");
  expect(await bar.textContent()).toContain("Current branch");

  const eye = page
    .locator(`.entry[data-entry="${parallel}"] > .entry-head`)
    .getByLabel("What the model saw when it wrote this");
  for (const back of [() => page.goBack(), () => page.getByText("Back", { exact: true }).click()]) {
    await eye.click();
    await page.locator(`.path-bar.is-asked:has-text("assistant ${parallel}")`).waitFor();
    expect(await page.locator(`.entry[data-entry="${parallel}"]`).count()).toBe(0);
    await page.reload();
    await page.locator(`.path-bar.is-asked:has-text("assistant ${parallel}")`).waitFor();
    await back();
    await page.locator(".conversation[aria-label='Conversation']").waitFor();
    await waitForFocus(page, parallel);
    expect(await bar.textContent()).toContain("Current branch");
  }
  await page.keyboard.press("?");
  expect(await page.locator("dialog.help").textContent()).toContain("what the model saw at this entry");
  expect(results).toContain(failures[1]);
});

test("shows a failure that the model had not seen on the failure's own path", async () => {
  const { text, failures, single } = failingSession();
  const { page } = await open(text, { hash: `#entry=${single}` });
  await waitForFocus(page, single);
  await page.keyboard.press("m");
  await page.locator(".path-bar:has-text('before the call')").waitFor();
  await page.keyboard.press("f");
  await waitForFocus(page, failures[1] ?? "");
  expect(await page.locator(".path-bar").textContent()).toContain("Current branch");
});

test("a search marks words of the session, not labels of the page", async () => {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  session.user("Run the checks.");
  const failed = session.tool("bash", { command: "make" }, "1 check has failed", { isError: true });
  const { page } = await open(session.text);
  await page.keyboard.press("/");
  await page.keyboard.type("fail");
  await page.locator(".panel-facts").waitFor();
  const marked = () =>
    page.evaluate(() =>
      [...(CSS.highlights.get("found") ?? [])].map((range) => {
        const { startContainer } = range as Range;
        return startContainer.parentElement?.className ?? "";
      }),
    );
  await expect.poll(marked).toEqual(["fold-excerpt"]);
  // An ID is separate from the text.
  await page.locator(".search input").fill(failed.slice(1));
  await expect.poll(() => page.locator(".hit-text").first().textContent()).toBe(`id ${failed}`);
});

test("filters by failure, tool, role, compaction, and label, each with a correct count", async () => {
  const { text, failures } = failingSession((session) =>
    session.compact("## Summary\n\nSo far.", session.leaf ?? ""),
  );
  const { page } = await open(text);
  const choice = (name: string) => page.locator(`[data-filter="${name}"]`);
  const countOf = async (name: string) => Number(await choice(name).locator(".filter-count").textContent());
  expect(await countOf("mark:failed")).toBe(4);
  expect(await countOf("mark:aborted")).toBe(1);
  expect(await countOf("mark:labeled")).toBe(1);
  await page.keyboard.press("v");
  const names = [
    "mark:failed",
    "mark:labeled",
    "kind:user",
    "kind:assistant",
    "kind:compaction",
    "tool:bash",
    "tool:read",
  ];
  for (const name of names) {
    await choice(name).click();
    const count = await countOf(name);
    await page
      .locator(`.panel-facts:has-text("${count} ${count === 1 ? "entry" : "entries"} found")`)
      .waitFor();
    await choice(name).click();
    await page.locator(".tree").waitFor();
  }
  expect(await countOf("kind:compaction")).toBe(1);

  // Choices of two groups: the tool that failed. Other counts show the remaining entries.
  await choice("mark:failed").click();
  expect(await countOf("tool:bash")).toBe(2);
  expect(await choice("tool:read").isDisabled()).toBe(true);
  await choice("tool:bash").click();
  await page.locator(".panel-facts:has-text('2 entries found')").waitFor();
  await page.keyboard.press("n");
  await waitForFocus(page, failures[0] ?? "");
  await page.getByLabel("Search in all entries").fill("output of three");
  await page.locator(".panel-facts:has-text('1 entry found')").waitFor();
  await page.keyboard.press("Enter");
  await waitForFocus(page, failures[1] ?? "");
  await page.getByText("Clear", { exact: true }).click();
  await page.locator(".search-count").waitFor();
  expect(await choice("mark:failed").getAttribute("aria-pressed")).toBe("false");
});

test("reports that nothing failed", async () => {
  const { page } = await open(
    '{"type":"session","version":3,"id":"s","timestamp":"2026-02-03T09:00:00.000Z","cwd":"/"}\n{"type":"message","id":"a","parentId":null,"timestamp":"2026-02-03T09:00:00.000Z","message":{"role":"user","content":"Hello."}}\n',
  );
  expect(await page.locator(".failures").textContent()).toBe("no failures");
  await page.keyboard.press("f");
  expect(await page.locator(".is-focused").count()).toBe(0);
});
