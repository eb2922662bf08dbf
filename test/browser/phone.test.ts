import { expect, test } from "vitest";
import { findingsOn } from "./support/axe.ts";
import { useBrowser } from "./support/browser.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

function sessionOnPhone() {
  const session = new SessionWriter({ provider: "anthropic", model: "claude-sonnet-4-5" });
  session.add("session_info", { name: "The totals of the monthly report are off by a cent" });
  session.user("Why is the total off?");
  session.assistant([{ type: "thinking", thinking: "The rate is rounded twice." }]);
  const failed = session.tool(
    "bash",
    { command: "npm run report -- --month 2026-02 --round" },
    "Tests 1 failed\n\nAssertionError: expected 119.01 to be 119.00\n\nCommand exited with code 1",
    { isError: true },
  );
  for (let turn = 0; turn < 6; turn++) {
    session.user(`Question ${turn}`);
    session.assistant(`Answer ${turn}`);
    for (let step = 0; step < 6; step++) session.assistant(`Step ${step} of ${turn}`);
  }
  return { text: session.text, failed };
}

test("on a phone a focused failure has room for its command, its error, and its ID", async () => {
  const { text, failed } = sessionOnPhone();
  const { page } = await open(text, PHONE);
  await page.getByRole("button", { name: "Next failure" }).tap();
  const block = page.locator(`.tool-use.is-focused[data-entry="${failed}"]`);
  await block.waitFor();
  const error = block.locator(".result .fold-excerpt");
  expect(await error.textContent()).toBe("exit code 1: AssertionError: expected 119.01 to be 119.00");
  // Two lines, three at most, with their padding.
  expect((await error.boundingBox())?.height).toBeLessThanOrEqual(70);
  const isCut = (selector: string) =>
    block
      .locator(selector)
      .evaluate((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight);
  expect(await isCut(".call .fold-excerpt")).toBe(false);
  expect(await isCut(".result .fold-excerpt")).toBe(false);
  // One menu has the ID and all actions, in words.
  const menu = block.locator(".icon-button:visible");
  expect(await menu.count()).toBe(1);
  expect((await menu.boundingBox())?.width).toBeGreaterThanOrEqual(40);
  await menu.tap();
  const dialog = page.getByRole("dialog", { name: "Actions" });
  expect(await dialog.locator("h2").textContent()).toBe(`Entry ${failed}`);
  expect(await dialog.locator(".action-menu button").allTextContents()).toEqual([
    "What the model saw when it made this call",
    "Hide what follows",
    "Copy the entry",
    `Link to entry ${failed}`,
    "Copy the command",
    "Copy the id",
  ]);
  expect(await findingsOn(page)).toEqual([]);
  await dialog.getByText("Hide what follows").tap();
  await dialog.waitFor({ state: "detached" });
  expect(page.url()).toContain(`end=${failed}`);
  // The ID of other entries takes no room.
  expect(await page.locator(".entry:not(.is-focused) > .entry-head > .entry-id").first().isVisible()).toBe(
    false,
  );
});

test("on a phone an opened failure has the whole width, and its actions are on one line below", async () => {
  const { text, failed } = sessionOnPhone();
  const { page } = await open(text, { ...PHONE, hash: `#entry=${failed}` });
  const block = page.locator(`.tool-use.is-focused[data-entry="${failed}"]`);
  const fold = block.locator(".output");
  await fold.waitFor();
  if (!(await fold.evaluate((one) => one.classList.contains("is-open"))))
    await fold.locator(".fold-summary").tap();
  await fold.locator(".copy-code").waitFor();
  const boxOf = async (selector: string) => {
    const { x = 0, y = 0, width = 0, height = 0 } = (await fold.locator(selector).boundingBox()) ?? {};
    return { left: x, top: y, right: x + width, bottom: y + height, middle: y + height / 2, width };
  };
  const [error, chip, copy, menu] = [
    await boxOf(".fold-excerpt"),
    await boxOf(".chip.is-failed"),
    await boxOf(".copy-code"),
    await boxOf(".entry-menu"),
  ];
  expect(error.width).toBeGreaterThan(260);
  for (const { top, middle } of [chip, copy, menu]) {
    expect(top).toBeGreaterThanOrEqual(error.bottom - 4);
    expect(Math.abs(middle - chip.middle)).toBeLessThan(4);
  }
  expect(copy.left).toBeGreaterThan(chip.right);
  await fold.locator(".entry-menu").tap();
  await page.getByRole("dialog", { name: "Actions" }).waitFor();
});

test("on a phone each message has one menu, and an unfocused result none", async () => {
  const { text } = sessionOnPhone();
  const { page } = await open(text, PHONE);
  const heads = page.locator(".conversation .entry-head");
  await heads.first().waitFor();
  const numbers = await heads.evaluateAll((all) =>
    all.map(
      (head) =>
        Array.from(head.querySelectorAll(".entry-actions > *")).filter((one) => one.checkVisibility()).length,
    ),
  );
  expect(new Set(numbers)).toEqual(new Set([1]));
  expect(await page.locator(".tool-use .entry-actions:visible").count()).toBe(0);
});

test("on a phone the session's title has two lines, in every view", async () => {
  const { text } = sessionOnPhone();
  for (const hash of ["", "#view=model", "#view=usage"]) {
    const { page } = await open(text, { ...PHONE, hash });
    const title = page.locator(".title h1");
    expect((await title.boundingBox())?.height, hash).toBeGreaterThan(30);
    expect((await page.locator(".top-bar").boundingBox())?.height, hash).toBeLessThan(50);
  }
});

test("on a phone a label and the text after it are on one line", async () => {
  const { page } = await open(sessionOnPhone().text, PHONE);
  const lines = page.locator(".thinking .fold-summary");
  await lines.first().waitFor();
  const baselines = await lines.first().evaluate((summary) =>
    [".fold-title", ".fold-excerpt"].map((selector) => {
      const mark = document.createElement("span");
      mark.style.display = "inline-block";
      summary.querySelector(selector)?.prepend(mark);
      return mark.getBoundingClientRect().bottom;
    }),
  );
  expect(baselines[0]).toBe(baselines[1]);
});

test("on a phone a record is one line until it is focused, and then shows its actions", async () => {
  const session = new SessionWriter({ provider: "anthropic", model: "claude-sonnet-4-5" });
  const id = session.add("model_change", { provider: "openai-codex", modelId: "gpt-5.6-sol-of-the-summer" });
  session.user("Go on.");
  const { page } = await open(session.text, { ...PHONE, hash: "#records=shown" });
  const line = page.locator(`.entry[data-entry="${id}"]`);
  await line.waitFor();
  expect((await line.boundingBox())?.height).toBeLessThan(70);
  expect(await line.locator(".icon-button:visible").count()).toBe(0);
  await line.locator(".entry-kind").tap();
  await line.getByLabel(`Actions for entry ${id}`).waitFor();
});

test("on a phone names of models are not broken, and rings of the tree do not touch", async () => {
  const { page } = await open(sessionOnPhone().text, { ...PHONE, hash: "#view=usage" });
  const cell = page.locator(".call-table td[data-name=Model]").first();
  await cell.waitFor();
  const lines = await cell.evaluate((one) => {
    const range = new Range();
    range.selectNodeContents(one);
    return new Set(Array.from(range.getClientRects(), ({ top }) => top)).size;
  });
  expect(lines).toBe(1);

  await page.getByRole("button", { name: "Tree" }).tap();
  await page.locator(".panel-bar button[data-value=turns]").tap();
  await page.locator(".tree-run").nth(1).waitFor();
  const gap = await page.locator(".tree-run").evaluateAll(([first, second]) => {
    const ringOf = (run: Element | undefined) => {
      const box = run?.getBoundingClientRect() ?? new DOMRect();
      const isDrawn = run !== undefined && getComputedStyle(run).borderTopColor !== "rgba(0, 0, 0, 0)";
      const inset =
        isDrawn || run === undefined ? 0 : Number.parseFloat(getComputedStyle(run, "::before").top);
      return { top: box.top + inset, bottom: box.bottom - inset };
    };
    return ringOf(second).top - ringOf(first).bottom;
  });
  expect(gap).toBeGreaterThanOrEqual(6);
});

test("help lists keys if there is a keyboard, and only icons on a touch screen", async () => {
  const { text } = sessionOnPhone();
  const { page } = await open(text, PHONE);
  await page.locator(".menu-button").tap();
  await page.getByRole("button", { name: "Signs", exact: true }).tap();
  const help = page.locator("dialog.help");
  await help.waitFor();
  expect(await help.locator("kbd").count()).toBe(0);
  expect(await help.locator("h2").allTextContents()).toEqual(["Signs"]);
  expect(await help.textContent()).toContain("shows what the model saw at an entry");
  // A fold has one ring, including a fold of failures.
  const borders = await help
    .locator(".tree-run")
    .evaluateAll((all) => all.map((run) => getComputedStyle(run).borderTopColor));
  expect(borders).toEqual(["rgba(0, 0, 0, 0)", "rgba(0, 0, 0, 0)"]);

  const { page: desk } = await open(text);
  await desk.getByRole("button", { name: "Keys and signs" }).click();
  expect(await desk.locator("dialog.help h2").allTextContents()).toEqual(["Keys", "Signs"]);
});

test("on a phone the number of failures links to the first one, and no button covers text", async () => {
  const { text, failed } = sessionOnPhone();
  const { page } = await open(text, PHONE);
  await page.getByText("1 failed").tap();
  const block = page.locator(`.tool-use.is-focused[data-entry="${failed}"]`);
  const code = block.locator(".result .code");
  await code.waitFor();
  const [button, written] = await Promise.all(
    [".copy-code", "pre"].map((selector) => code.locator(selector).boundingBox()),
  );
  expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(written?.y ?? 0);
});

test("on a phone the menu shows all facts of the session, its cost first", async () => {
  const { page } = await open(sessionOnPhone().text, PHONE);
  await page.locator(".menu-button").tap();
  const facts = page.locator(".title p");
  expect(await facts.textContent()).toMatch(/^cost \$[\d.]+ · .*2026/);
  expect(await facts.evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(false);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

test("on a phone each tool of the menu has its name next to it", async () => {
  const { page } = await open(sessionOnPhone().text, PHONE);
  await page.locator(".menu-button").tap();
  const tools = page.locator(".tools .icon-button");
  const names = await tools.evaluateAll((all) =>
    all.map((one) => [getComputedStyle(one, "::after").content, one.getAttribute("aria-label")]),
  );
  expect(names.length).toBeGreaterThan(4);
  for (const [shown, name] of names) expect(shown).toBe(`"${name}" / ""`);
  const cut = await tools.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
  expect(cut).toBe(0);
});

test("on a phone the button that copies an argument is on the line of its name", async () => {
  const session = new SessionWriter({ provider: "anthropic", model: "claude-sonnet-4-5" });
  session.user("Go on.");
  session.tool("read", { path: "src/a.ts" }, "a");
  const { page } = await open(session.text, PHONE);
  await page.locator(".call .fold-summary").tap();
  const name = page.locator(".argument-name");
  await name.waitFor();
  const [label, button] = [await name.boundingBox(), await page.locator(".call .copy-code").boundingBox()];
  expect(button?.height).toBeGreaterThanOrEqual(44);
  const getMiddle = (box: typeof label) => (box?.y ?? 0) + (box?.height ?? 0) / 2;
  expect(Math.abs(getMiddle(button) - getMiddle(label))).toBeLessThan(2);
});

test("on a phone the key of the search focuses its field before the next key", async () => {
  const { page } = await open(sessionOnPhone().text, PHONE);
  await page.locator(".conversation .entry").first().waitFor();
  const tag = await page.evaluate(async () => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
    // Later than the render, earlier than the next frame.
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    return document.activeElement?.tagName;
  });
  expect(tag).toBe("INPUT");
});
