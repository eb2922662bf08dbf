import { writeFileSync } from "node:fs";
import MarkdownIt from "markdown-it";
import { describe, expect, test } from "vitest";
import {
  adoptMarkdown,
  escapeMarkdown,
  fenceText,
  formatCode,
} from "../../../../src/apps/text/markdown-text.ts";
import fc from "../../../support/fast-check.ts";
import { cli, temporaryFolder } from "../support/cli.ts";
import { makeId, Scribe, userLine, writeLines } from "../support/sessions.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function markdownOf(path: string, ...more: string[]): Promise<string> {
  const { code: exit, stdout, stderr } = await cli(["export", path, "--markdown", ...more]);
  expect([exit, stderr]).toEqual([0, ""]);
  return stdout;
}

describe("a transcript", () => {
  test("has a title, facts, and a heading for each turn", async () => {
    const scribe = new Scribe(temporaryFolder());
    scribe.session.appendSessionInfo("Fix *the* build");
    const first = scribe.user("Why is it red?");
    scribe.session.appendLabelChange(first, "start");
    scribe.assistant("A test fails.");
    scribe.user("Fix it.");
    const text = await markdownOf(scribe.path);
    expect(text.split("\n").slice(0, 3)).toEqual([
      "# Fix \\*the\\* build",
      "",
      "- Session: `0198aaaa-0000-7000-8000-000000000001`",
    ]);
    expect(text).toContain("- Time: 2026-02-03 22:03 – 22:06\n- Branch: 5 of 5 entries\n");
    expect(text).toContain("\n## 1. User \\[start\\] · 2026-02-03 22:03\n\nWhy is it red?\n");
    expect(text).toContain("\n### Assistant · claude · 2026-02-03 22:05\n\nA test fails.\n");
    expect(text).toContain("\n## 2. User · 2026-02-03 22:06\n\nFix it.\n");
  });

  test("shows calls, results, commands, thinking, summaries, and changes", async () => {
    const scribe = new Scribe(temporaryFolder());
    const { session } = scribe;
    const first = scribe.user("Go on.");
    session.appendModelChange("anthropic", "claude_2");
    scribe.assistant("", {
      content: [
        { type: "thinking", thinking: "Look </details> first." },
        { type: "toolCall", id: "1", name: "bash", arguments: { command: "echo '```'" } },
      ],
    });
    scribe.result("````\nboom", true, "1");
    session.appendMessage({
      role: "bashExecution",
      command: "make",
      output: "",
      exitCode: 2,
      cancelled: false,
      truncated: false,
      timestamp: 1,
    });
    session.appendCompaction("## Goal\nAll of it", first, 12345);
    session.branchWithSummary(session.getLeafId(), "It did not work.");
    session.appendCustomEntry("state", { secret: 1 });
    session.appendCustomMessageEntry("hint", "Mind the gap.", true);
    scribe.assistant("", { stopReason: "error", errorMessage: "too *many* requests" });
    const text = await markdownOf(scribe.path);
    for (const part of [
      "*Model: anthropic/claude\\_2*",
      "<details>\n<summary>Thinking</summary>\n\nLook &lt;/details> first.\n\n</details>",
      "**Call of** `bash`\n\n````bash\necho '```'\n````",
      "**Result of** `bash`, **failed**\n\n`````\n````\nboom\n`````",
      ", **exit code 2**\n\n```bash\nmake\n```",
      "## Compaction: the context had 12,345 tokens before · 2026-02-03 22:07\n\n##### Goal\nAll of it",
      "## Summary of another branch · 2026-02-03 22:08\n\nIt did not work.",
      "### Message of `hint`",
      "**Failed:** too \\*many\\* requests",
    ])
      expect(text).toContain(part);
    expect(text).not.toContain("secret");
  });

  test("shows commands, edits, patches, and files in their language", async () => {
    const scribe = new Scribe(temporaryFolder());
    scribe.user("Go");
    const patch = "*** Begin Patch\n*** Update File: a.py\n-x\n+y\n*** End Patch";
    const calls: [string, Record<string, unknown>, string][] = [
      [
        "bash",
        { command: "npm test", timeout: 60 },
        "**Call of** `bash`: `timeout` `60`\n\n```bash\nnpm test\n```",
      ],
      ["shell", { command: ["bash", "-lc", "ls -l"] }, "```bash\nls -l\n```"],
      ["read", { path: "src/a.ts", limit: 20 }, "**Call of** `read`: `src/a.ts`, `limit` `20`\n\n**"],
      [
        "edit",
        { path: "a.ts", oldText: "one\ntwo\nthree\nfour", newText: "one\ntwo\n3\nfour" },
        "**Call of** `edit`: `a.ts`\n\n```diff\n two\n-three\n+3\n four\n```",
      ],
      [
        "multi",
        {
          file_path: "a.ts",
          edits: [
            { old_string: "a", new_string: "b" },
            { old_string: "", new_string: "c" },
          ],
        },
        "**Call of** `multi`: `a.ts`\n\n```diff\n-a\n+b\n```\n\n```diff\n+c\n```",
      ],
      ["apply_patch", { input: patch }, `\`\`\`diff\n${patch}\n\`\`\``],
      [
        "write",
        { path: "b.rs", content: "fn main() {}\n" },
        "**Call of** `write`: `b.rs`\n\n```rs\nfn main() {}\n```",
      ],
      ["ask", { options: [1] }, '```json\n{\n  "options": [\n    1\n  ]\n}\n```'],
    ];
    for (const [name, input] of calls) {
      scribe.call(name, input);
      scribe.result("done");
    }
    const text = await markdownOf(scribe.path);
    expect(text.match(/### Assistant/g)).toHaveLength(1);
    expect(await markdownOf(scribe.path, "--results", "full")).toContain(
      "```diff\n one\n two\n-three\n+3\n four\n```",
    );
    for (const [name, , expected] of calls) expect(text, name).toContain(expected);
  });

  test("folds and shortens long results, calls, and thinking, omits results, or shows all", async () => {
    const scribe = new Scribe(temporaryFolder());
    const lines = Array.from({ length: 50 }, (_, i) => `line ${i + 1}`).join("\n");
    scribe.user("Go");
    scribe.assistant("", { content: [{ type: "thinking", thinking: lines }] });
    scribe.call("write", { path: "a.md", content: lines });
    scribe.result(lines);
    scribe.call("bash", { command: "true" });
    scribe.result("short");
    scribe.call("edit", { path: "a.md", oldText: "a", newText: "b" });
    scribe.result("Error: the text was not found; nothing was changed");
    scribe.call("bash", { command: "false" });
    scribe.result(lines, true);
    const folded = await markdownOf(scribe.path);
    for (const part of [
      "<details>\n<summary>Thinking</summary>\n\nline 1\nline 2\n… 46 lines left out …\nline 49\nline 50\n\n</details>",
      "```md\nline 1\nline 2\nline 3\nline 4\n… 42 lines left out …\nline 47\n",
      "<details>\n<summary>Result of <code>bash</code>: 50 lines</summary>\n\n```\nline 1\nline 2\n… 46 lines left out …",
      "**Result of** `bash`\n\n```\nshort\n```",
      // Many tools report a failed edit without marking the result as an error.
      "**Result of** `bash`\n\n```\nError: the text was not found; nothing was changed\n```",
      "<summary>Result of <code>bash</code>, <b>failed</b>: 50 lines</summary>",
    ])
      expect(folded).toContain(part);
    const without = await markdownOf(scribe.path, "--results", "none");
    expect(without.match(/\*\*Result of.*/g)).toEqual(["**Result of** `bash`, **failed**"]);
    expect(without).toContain("```bash\nfalse\n```");
    const full = await markdownOf(scribe.path, "--results", "full");
    expect(full.match(/\nline 25\n/g)).toHaveLength(4);
    const other = await cli(["export", scribe.path, "--mermaid", "--results", "full"]);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("--results requires --markdown")]);
  });

  test("shows only effective changes of settings, before the next message", async () => {
    const scribe = new Scribe(temporaryFolder());
    const { session } = scribe;
    scribe.user("One");
    for (const level of ["low", "high", "low"]) session.appendThinkingLevelChange(level);
    scribe.user("Two");
    session.appendThinkingLevelChange("high");
    session.appendThinkingLevelChange("low");
    scribe.user("Three");
    session.appendThinkingLevelChange("off");
    const text = await markdownOf(scribe.path);
    expect(text.match(/\*Thinking level.*/g)).toEqual(["*Thinking level: low*", "*Thinking level: off*"]);
  });

  test("keeps any tool input and output inside its block", async () => {
    const reader = new MarkdownIt({ html: true });
    const parts = [
      "```",
      "`````",
      "~~~",
      "\n",
      "\n\n",
      "</details>",
      "</summary>",
      "<b>",
      "<!--",
      "# x",
      "- ",
      "x",
      "*** Begin Patch",
    ];
    const hostile = fc
      .array(fc.constantFrom(...parts), { minLength: 1, maxLength: 24 })
      .map((chosen) => chosen.join(""));
    await fc.assert(
      fc.asyncProperty(hostile, hostile, fc.boolean(), async (one, other, isError) => {
        const scribe = new Scribe(temporaryFolder());
        scribe.user("Go");
        scribe.call(one, {
          command: other,
          path: one,
          content: other,
          oldText: one,
          newText: other,
          [one]: [other],
        });
        scribe.result(`${other}\n\n\n\n${one}`, isError, "call-1", one);
        scribe.assistant("", { content: [{ type: "thinking", thinking: `${one}\n${other}\n\n\n${one}` }] });
        for (const how of ["none", "folded", "full"]) {
          const tokens = reader.parse(`${await markdownOf(scribe.path, "--results", how)}\n\n# After\n`, {});
          const html = tokens
            .flatMap((token) => [token, ...(token.children ?? [])])
            .filter(({ type }) => type.startsWith("html_"));
          const folds = html.map(({ content }) =>
            content.trim().replace(/<code>[^<>]*<\/code>(?:, <b>failed<\/b>)?/, ""),
          );
          expect(folds.filter((text) => text === "</details>")).toHaveLength(folds.length / 2);
          for (const text of folds)
            expect(text).toMatch(/^(?:<details>\n<summary>[\w :]*<\/summary>|<\/details>)$/);
          expect(
            tokens.filter(({ type, tag, level }) => type === "heading_open" && tag === "h1" && level === 0),
          ).toHaveLength(2);
        }
      }),
      { numRuns: 30 },
    );
  });

  test("lists images, and embeds valid ones on request", async () => {
    const scribe = new Scribe(temporaryFolder());
    const image = (mimeType: string, data: string) => ({ type: "image" as const, mimeType, data });
    const content = [image("image/png", PIXEL), image("image/png", "a)](x"), image("text/html", PIXEL)];
    scribe.session.appendMessage({ role: "user", content, timestamp: 1 });
    expect((await markdownOf(scribe.path)).match(/\*Image: /g)).toHaveLength(3);
    const text = await markdownOf(scribe.path, "--images");
    expect(text).toContain(`![image](data:image/png;base64,${PIXEL})`);
    expect(text.match(/\*Image: /g)).toHaveLength(2);
  });

  test("accepts entries of any kind, damage, and an empty session", async () => {
    const folder = temporaryFolder();
    const odd = [
      { ...userLine(makeId(0), null), message: 7 },
      {
        ...userLine(makeId(1), makeId(0)),
        message: { role: "toolResult", content: [null, 3, { type: "image" }] },
      },
      { ...userLine(makeId(2), makeId(1)), message: { role: "\u001b[2Jodd`", content: { deep: true } } },
      { ...userLine(makeId(3), makeId(2)), type: "compaction", summary: 4, tokensBefore: "many" },
      { ...userLine(makeId(4), makeId(3)), type: "strange" },
    ];
    const path = writeLines(folder, "odd.jsonl", odd);
    writeFileSync(
      path,
      `{"type":"message","id":"${makeId(5)}","parentId":"${makeId(4)}","timestamp":"2026-02-03T22:01:00.000Z","message":{"role":"user"]}\n`,
      { flag: "a" },
    );
    const text = await markdownOf(path);
    expect(text).not.toContain("\u001b");
    expect(await markdownOf(writeLines(folder, "empty.jsonl", []))).toContain("- Branch: 0 of 0 entries");
  });
});

describe("other people's text", () => {
  test.each([
    ["# Title\n## Sub\n#hash", "#### Title\n##### Sub\n#hash"],
    ["a\n===\nb\n---\nc\n =", "a\n\\===\nb\n\\---\nc\n \\="],
    ["> a\n> -\n>\n> ---", "> a\n> \\-\n>\n> ---"],
    ["a\n    >\n=", "a\n    >\n\\="],
    ["- a\n  ---\n- b\n---\nc\n-", "- a\n  \\---\n- b\n---\nc\n\\-"],
    ["a\n\n---\n---\n# b\n---", "a\n\n---\n---\n#### b\n---"],
    ["a\n\n=\n---\n\n--\n---", "a\n\n=\n\\---\n\n--\n\\---"],
    ["```\na\n---\n```\n---", "```\na\n---\n```\n---"],
    ["```js\n<b>\n# no heading", "```js\n<b>\n# no heading\n```"],
    ["~~~~\n~~~\n```", "~~~~\n~~~\n```\n~~~~"],
    ["<script>x</script> <!-- 1 < 2", "&lt;script>x&lt;/script> &lt;!-- 1 < 2"],
    ["`<b>` and ``a`<i>`` and \\`<u>`", "`<b>` and ``a`<i>`` and \\`&lt;u>`"],
    ["- ```js\n  <b>\n  ```\n<i>", "-\n```js\n  <b>\n  ```\n&lt;i>"],
    ["a ` b\n` <b> `", "a ` b\n` &lt;b> `"],
    ["a | `b | <c>`\n--|--", "a | `b | &lt;c>`\n--|--"],
    ["`a\\`<b>` \\<i>", "`a\\`&lt;b>` \\<i>"],
    ["<https://example.org/a> <mailto:a@b.c>", "<https://example.org/a> <mailto:a@b.c>"],
  ])("stays in its place: %j", (text, expected) => {
    expect(adoptMarkdown(text)).toBe(expected);
  });

  test("contains no HTML for a Markdown reader, underlines no heading, and leaves no block open", () => {
    const reader = new MarkdownIt({ html: true });
    const parts = ["`", "``", "```", "~~~", "\n", "\n\n", " ", "    ", "- ", "1. ", "> ", "|", "---", "# "];
    const text = fc
      .array(
        fc.constantFrom(...parts, "\\", "<b>", "<script>", "</details>", "<!--", "<https://a.b>", "x", "="),
        {
          maxLength: 24,
        },
      )
      .map((chosen) => chosen.join(""));
    fc.assert(
      fc.property(text, (written) => {
        const tokens = reader.parse(`${adoptMarkdown(written)}\n\n# After\n`, {});
        const all = tokens.flatMap((token) => [token, ...(token.children ?? [])]);
        expect(all.filter(({ type }) => type.startsWith("html_"))).toEqual([]);
        expect(all.filter(({ type, markup }) => type === "heading_open" && /[-=]/.test(markup))).toEqual([]);
        expect(
          tokens.filter(({ type, tag, level }) => type === "heading_open" && tag === "h1" && level === 0),
        ).not.toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });

  test("a fence is longer than any run in its text, and ends on a separate line", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("`", "``", "````", "\n", "x", "~~~")), (parts) => {
        const [open = "", ...rest] = fenceText(parts.join(""), "sh").split("\n");
        const fence = open.slice(0, -"sh".length);
        expect(rest.pop()).toBe(fence);
        for (const line of rest) expect(line).not.toContain(fence);
      }),
    );
  });

  test("short text is code or escaped, on one line", () => {
    expect(formatCode("a`b")).toBe("``a`b``");
    expect(formatCode("`\n")).toBe("`` ` ``");
    expect(escapeMarkdown("[a](b)\n<c> | #1 `x`\u001b[2J")).toBe("\\[a\\](b) \\<c\\> \\| \\#1 \\`x\\`␛\\[2J");
  });
});
