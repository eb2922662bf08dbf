import { expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { SessionWriter } from "./support/session-writer.ts";
import { smallSession } from "./support/small-session.ts";

const open = useBrowser();

test("leaves scroll keys to focused elements that scroll and to views without entries", async () => {
  const { page } = await open(smallSession().text, { viewport: { width: 1280, height: 500 } });
  const swallowed = (selector: string, key: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((target, key) => {
        const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
        return !target.dispatchEvent(event);
      }, key);
  await page.locator(".folded-line.is-compacted").click();
  await page.locator(".conversation pre").first().waitFor();
  await page
    .locator(".conversation pre")
    .first()
    .evaluate((pre) => {
      pre.style.width = "20px";
      pre.style.overflow = "auto";
    });
  expect(await swallowed(".conversation pre", "ArrowRight")).toBe(false);
  expect(await swallowed(".conversation", "ArrowDown")).toBe(true);
  await page.keyboard.press("u");
  await page.locator(".usage .bar").first().waitFor();
  for (const key of ["ArrowDown", "ArrowRight", "Home", "End"])
    expect(await swallowed(".usage", key)).toBe(false);
});

test("the key for the next hit does nothing without a search", async () => {
  const { page } = await open(smallSession().text);
  await page.locator(".conversation .entry").first().waitFor();
  const before = page.url();
  for (const key of ["n", "N", "n"]) await page.keyboard.press(key);
  // Keys are handled in order: this one is drawn last.
  await page.keyboard.press("?");
  await page.locator("dialog.help").waitFor();
  expect(page.url()).toBe(before);
  expect(await page.locator(".entry.is-focused").count()).toBe(0);
});

/** A session with an entry of every kind that has folds. */
function everyKind(): { text: string; ids: string[] } {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  session.message({ role: "system", content: "Be kind.", sections: { tone: "Calm." }, toolsAdded: ["bash"] });
  session.user([{ type: "text", text: "Go on." }, { type: "riddle" }]);
  session.assistant([{ type: "thinking", thinking: "Hm." }]);
  session.tool("bash", { command: "npm test" }, "1 failed", { isError: true, details: { ms: 1 } });
  session.tool("edit", { path: "a.ts", oldText: "a", newText: "b" }, "Replaced.");
  session.message({ role: "bashExecution", command: "make", output: "done", exitCode: 0 });
  session.message({ role: "custom", customType: "hint", content: [{ type: "riddle" }], display: true });
  session.message({ role: "strange", odd: true });
  session.add("custom_message", { customType: "hint", content: "Mind.", details: { of: "gap" } });
  session.add("branch_summary", { fromId: "root", summary: "Left.", details: { readFiles: ["a"] } });
  session.add("compaction", {
    summary: "Short.",
    firstKeptEntryId: "a0000001",
    details: { readFiles: ["a"] },
  });
  session.add("context_edit", { targetId: "a0000002", replacement: { content: [{ type: "riddle" }] } });
  session.add("usage", { kind: "title", provider: "acme", model: "acorn-2", usage: { input: 1, output: 1 } });
  session.add("custom", { customType: "state", data: { kept: 1 } });
  session.add("strange", { odd: true });
  const ids = Array.from({ length: session.size }, (_, index) => (0xa0000001 + index).toString(16));
  return { text: session.text, ids };
}

test("Enter and o open and close every kind of entry that has folds", async () => {
  const { text, ids } = everyKind();
  const { page } = await open(text, { hash: `#entry=${ids[0]}&records=shown` });
  for (const [index, id] of ids.entries()) {
    if (index > 0) await page.keyboard.press("j");
    await page.locator(`.is-focused[data-entry="${id}"]`).waitFor();
    // A tool result is inside the entry of its call but has its own ID.
    const states = () =>
      page.locator(`[data-entry="${id}"] .fold`).evaluateAll((folds, id) => {
        const ownerOf = (fold: Element) =>
          fold.closest(".result")?.closest(".tool-use[data-entry]") ?? fold.closest(".entry");
        const own = folds.filter((fold) => ownerOf(fold)?.getAttribute("data-entry") === id);
        return own.map((fold) => fold.classList.contains("is-open"));
      }, id);
    const closed = await states();
    expect(closed.length, id).toBeGreaterThan(0);
    await page.keyboard.press(index % 2 === 0 ? "Enter" : "o");
    await expect.poll(states, { message: id }).not.toContain(false);
    await page.keyboard.press(index % 2 === 0 ? "o" : "Enter");
    await expect.poll(states, { message: id }).not.toContain(true);
  }
});

test("Enter and o fold an entry without folds to its beginning, or report that there is nothing to open", async () => {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  const plain = [
    session.user("Count the herons.\n\nAll of them."),
    session.assistant("There are seven.\n\nOne is grey."),
    session.add("custom_message", { customType: "hint", content: "Mind.\n\nThe gap." }),
    session.add("branch_summary", { fromId: "root", summary: "Left.\n\nFor good." }),
    session.compact("Short.\n\nVery.", "a0000001"),
  ];
  const empty = [
    session.add("model_change", { provider: "acme", modelId: "acorn-3" }),
    session.add("thinking_level_change", { thinkingLevel: "high" }),
    session.label(plain[0] ?? "", "first"),
    session.add("session_info", { name: "Herons" }),
    session.assistant([]),
  ];
  const { page } = await open(session.text, { hash: `#entry=${plain[0]}&records=shown` });
  const body = page.locator(".is-focused .entry-body");
  const toast = page.locator(".toast.is-shown");
  for (const [index, id] of [...plain, ...empty].entries()) {
    if (index > 0) await page.keyboard.press("j");
    await page.locator(`.is-focused[data-entry="${id}"]`).waitFor();
    const key = index % 2 === 0 ? "Enter" : "o";
    if (empty.includes(id)) {
      await page.keyboard.press(key);
      await toast.waitFor();
      expect(await toast.textContent()).toBe("Nothing to open here");
      continue;
    }
    expect(await body.locator("p").count(), id).toBe(2);
    await page.keyboard.press(key);
    await body.locator("button[aria-expanded=false]").waitFor();
    expect(await body.locator("p").count(), id).toBe(0);
    await page.keyboard.press(key);
    await body.locator("p").nth(1).waitFor();
  }
});

test("a focused entry shows its name once", async () => {
  const { text, ids } = everyKind();
  const { page } = await open(text, { hash: `#entry=${ids.at(-2)}` });
  const state = page.locator(`.entry[data-entry="${ids.at(-2)}"]`);
  await state.waitFor();
  expect((await state.textContent())?.split("state").length).toBe(2);
});

test("Enter opens the first visible entry if none is focused", async () => {
  const { page } = await open(everyKind().text);
  await page.locator(".entry .fold").first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".entry.is-focused .fold.is-open").first().waitFor();
});
