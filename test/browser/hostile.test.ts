import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

/** Strings that would run or load something if a page did not escape them. */
const ATTACKS = [
  "</script><script>alert(1)</script>",
  "<!--<script>alert(2)",
  "<img src=x onerror=alert(3)>",
  "<svg onload=alert(4)>",
  "<iframe src='https://evil.example/frame'></iframe>",
  "[click](javascript:alert(5))",
  "[click](JaVaScRiPt:alert(5)) [data](data:text/html,<script>alert(6)</script>) [vb](vbscript:x)",
  "![image](https://evil.example/pixel.png)",
  '![image](https://evil.example/x.png"onerror="alert(7))',
  "<https://evil.example/auto> https://evil.example/linkified",
  "```html\n<script>alert(8)</script>\n```",
  '```"><img/src=x/onerror=alert(9)>\ncode\n```',
  "<base href='https://evil.example/'><form action='https://evil.example'><button>x</button></form>",
  "<style>@import 'https://evil.example/x.css'; body { display: none }</style>",
  "<meta http-equiv=refresh content='0;url=https://evil.example'>",
  "| a |\n|:-:|\n| <b onclick=alert(10)>b</b> |",
  "{{constructor.constructor('alert(11)')()}}",
  "\u2028\u2029\u0000\u202e right to left",
  "halves \ud800 of pairs [a](https://evil.example/\udc00)",
];

function hostileSession(): string {
  const session = new SessionWriter({ provider: ATTACKS[2] ?? "", model: ATTACKS[0] ?? "" });
  for (const text of ATTACKS) {
    session.add("session_info", { name: text });
    session.user(text);
    session.assistant([
      { type: "thinking", thinking: text },
      { type: "text", text },
      {
        type: "toolCall",
        id: text,
        name: text,
        arguments: { path: text, [text]: text, oldText: text, newText: `${text}!` },
      },
      { type: text, text },
    ]);
    session.tool("bash", { command: text, __proto__: null, constructor: text }, text, {
      toolName: text,
      isError: true,
    });
    session.label(session.leaf ?? "", text);
    session.add("custom", { customType: text, data: { [text]: text } });
    session.add(text, { summary: text });
    session.add("branch_summary", { fromId: text, summary: text });
    session.user([
      { type: "image", mimeType: "image/svg+xml", data: text },
      { type: "image", mimeType: "image/png", data: `x" onerror="alert(12)` },
      { type: "image", mimeType: 'image/png" onerror="alert(13)', data: "AAAA" },
      { type: "image", mimeType: "image/png", url: "https://evil.example/image.png" },
    ]);
  }
  session.line(
    `{"type":"message","id":"__proto__","parentId":"constructor","__proto__":{"polluted":1},"message":{"role":"__proto__"}}`,
  );
  session.line("</script><script>alert(14)</script>");
  session.line(
    `{"type":"message","id":"toString","message":{"role":"user","content":"${"x".repeat(2_000_000)}"}}`,
  );
  session.line(String.raw`{"type":"message","id":"\ud800","message":{"role":"user","content":"half an id"}}`);
  session.line('{"type":"message","id":"cut');
  return session.text;
}

test("a hostile session runs nothing and loads nothing, in any view", async () => {
  const { page, requests, dialogs, complaints } = await open(hostileSession());
  const walk = async () => {
    for (let screen = 0; screen < 12; screen++) {
      await page
        .locator("main [tabindex='0']")
        .first()
        .evaluate((list) => list.scrollBy(0, 1500));
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    }
  };
  await page.keyboard.press("e");
  for (const view of ["path", "model", "usage", "issues"]) {
    await page.locator(`.segments button[data-value=${view}]`).click();
    await walk();
  }
  await page.getByLabel("Search in all entries").fill("alert");
  await page.locator(".hit").first().waitFor();
  await page.pdf();
  expect({ requests, dialogs, complaints }).toEqual({ requests: [], dialogs: [], complaints: [] });
  expect(await page.evaluate(() => "polluted" in {})).toBe(false);
});

test("links of a session point only to the web or to mail", async () => {
  const session = new SessionWriter({ provider: "p", model: "m" });
  session.user(ATTACKS.join("\n\n"));
  session.assistant(
    "[mail](mailto:a@example.org) [file](file:///etc/passwd) [here](page.html) [//](//evil.example)",
  );
  const { page } = await open(session.text);
  const links = await page
    .locator(".markdown a")
    .evaluateAll((all) =>
      all.map((one) => [one.getAttribute("href"), one.getAttribute("rel"), one.getAttribute("target")]),
    );
  expect(links.length).toBeGreaterThan(3);
  for (const [href, rel, target] of links) {
    expect(href).toMatch(/^(?:https?:\/\/|mailto:)/);
    expect(rel).toBe("noopener noreferrer");
    expect(target).toBe("_blank");
  }
  expect(await page.locator(".markdown img, .markdown iframe, .markdown script, .markdown svg").count()).toBe(
    0,
  );
});

test("the policy blocks injected scripts and resources", async () => {
  const { page, dialogs } = await open(new SessionWriter({ provider: "p", model: "m" }).text);
  const blocked: (string | undefined)[] = [];
  page.on("requestfailed", (request) => blocked.push(request.failure()?.errorText));
  const answers: string[] = [];
  page.on("response", (response) => answers.push(response.url()));
  await page.evaluate(() => {
    const place = document.createElement("div");
    place.innerHTML =
      "<img src='https://evil.example/x.png' onerror='alert(1)'><iframe src='https://evil.example'></iframe>";
    document.body.append(place);
    const script = document.createElement("script");
    script.textContent = "alert(2)";
    document.body.append(script);
  });
  const fetched = await page.evaluate(() =>
    fetch("https://evil.example/").then(
      () => "sent",
      () => "refused",
    ),
  );
  expect(fetched).toBe("refused");
  expect(dialogs).toEqual([]);
  expect(new Set(blocked)).toEqual(new Set(["csp"]));
  expect(answers).toEqual([]);
});

test("shows every damaged fixture and its issues with lines and bytes, without errors on the console", async () => {
  const folder = fileURLToPath(new URL("../../fixtures/broken/", import.meta.url));
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".jsonl"))) {
    const { page, complaints } = await open(readFileSync(folder + name));
    const issues = page.locator(".segments button[data-value=issues]");
    if ((await issues.count()) > 0) {
      await issues.click();
      expect(await page.locator(".issue").first().textContent(), name).toMatch(/[A-Z_]+.*offset \d+/);
      // Only issues about an entry link to one.
      for (const link of await page.locator(".issue .link-button").allTextContents())
        expect(link, name).toMatch(/^Show entry \S/);
    }
    expect(complaints, name).toEqual([]);
    await page.context().close();
  }
});
