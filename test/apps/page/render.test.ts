import { expect, test } from "vitest";
import {
  findLanguage,
  guessLanguage,
  highlightCode,
  highlightLines,
} from "../../../src/apps/page/render/highlight.ts";
import { renderMarkdown } from "../../../src/apps/page/render/markdown.ts";
import fc from "../../support/fast-check.ts";

/** Everything that our two renderers may write: these elements with these attributes, in this form. */
const ALLOWED =
  /^(?:[^<>]|<\/?(?:p|ul|ol|li|em|strong|s|h[1-6]|blockquote|pre|code|table|thead|tbody|tr|td|th)>|<(?:br|hr)>|<(?:ul|ol|blockquote|table) dir="auto">|<ol start="\d+" dir="auto">|<(?:code|pre) class="language-[^"<>]*">|<(?:td|th) class="align-(?:left|right|center)">|<a href="(?:https?:\/\/|mailto:)[^"<>]*"(?: title="[^"<>]*")? target="_blank" rel="noopener noreferrer">|<pre tabindex="0">|<div class="(?:fence|table-scroll)"(?: tabindex="0")?>|<button type="button" class="copy-code no-print">Copy<\/button>|<\/div>|<a>|<\/a>|<span class="(?:hljs-[\w-]+|[\w -]+)">|<\/span>)*$/i;

const ATTACKS = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "[a](javascript:alert(1))",
  "[a](&#106;avascript:alert(1))",
  "[a](java\nscript:alert(1))",
  "[a](data:text/html,x) [b](vbscript:x) [c](file:///etc/passwd) [d](//evil.example)",
  '[a](https://x.example/"onclick="alert(1))',
  '[a](https://x.example "title" onclick="x")',
  "![a](https://evil.example/x.png)",
  "![a](data:image/png;base64,AAAA)",
  "![a](javascript:alert(1))",
  "[a]() ![a]() [](<>)",
  "<https://x.example/><javascript:alert(1)>",
  '```js"onload="x\nlet a = "<b>";\n```',
  "```html\n</code></pre><script>alert(1)</script>\n```",
  "| a |\n|:-:|\n| <i onclick=x>b</i> |",
  "[ref]\n\n[ref]: javascript:alert(1) 'x'",
  'www.example.org a@example.org https://example.org/?a=<b>&c="d"',
];

test.each(ATTACKS)("Markdown passes nothing active: %s", (text) => {
  expect(renderMarkdown(text)?.__html).toMatch(ALLOWED);
});

test("links open outside, and point only to the web or to mail", () => {
  const html =
    renderMarkdown("[a](https://x.example) [b](mailto:a@b.example) [c](ftp://x.example)")?.__html ?? "";
  expect(html.match(/<a href="[^"]*" target="_blank" rel="noopener noreferrer">/g)).toHaveLength(2);
  expect(html).toContain("[c](ftp://x.example)");
});

test("lists, quotations, and tables are on the side where their text begins", () => {
  const html = renderMarkdown("- א\n\n1. ב\n\n> ג\n\n| ד |\n|-|\n| ה |")?.__html ?? "";
  expect(html.match(/<(?:ul|ol|blockquote|table)[^>]*>/g)).toEqual(
    ["ul", "ol", "blockquote", "table"].map((name) => `<${name} dir="auto">`),
  );
});

test("Markdown built from pieces of attacks is harmless, too", () => {
  const piece = fc.constantFrom(
    "<",
    ">",
    '"',
    "'",
    "[",
    "](",
    ")",
    "!",
    "`",
    "```\n",
    "\n",
    "javascript:",
    "https://a",
    "onload=",
    "|",
    "&lt;",
    " ",
    "x",
    "#",
    "*",
    "\ud800",
    "\udc00",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      expect(renderMarkdown(pieces.join(""))?.__html).toMatch(ALLOWED);
    }),
    { numRuns: 500 },
  );
});

test("escapes code of any language", () => {
  for (const name of ["ts", "python", "html", "xml", "bash", "json", "md", "sql", "diff", "c"]) {
    const language = findLanguage(name);
    expect(language).toBeDefined();
    const html =
      highlightCode("</pre><script a=\"1\">alert(1)</script> & 'x' <!-- -->", language ?? "")?.__html ?? "";
    expect(html).toMatch(ALLOWED);
    expect(html.replace(/<\/?span[^>]*>/g, "")).not.toMatch(/[<>]/);
  }
});

test("recognizes languages by name and by file, and no others", () => {
  expect(guessLanguage("src/a.ts")).toBe("ts");
  expect(guessLanguage("a.unknown")).toBeUndefined();
  expect(guessLanguage("Makefile")).toBeUndefined();
  for (const name of ["", "__proto__", "constructor", "no such"]) expect(findLanguage(name)).toBeUndefined();
});

test("renders overlong Markdown as plain text", () => {
  expect(renderMarkdown("x".repeat(400_000))).toBeUndefined();
  expect(highlightCode("x".repeat(100_000), "typescript")).toBeUndefined();
  expect(renderMarkdown(`${"> ".repeat(5000)}deep`)).toBeDefined();
});

test.each([
  ["a word", "java", "$".repeat(59_000)],
  ["many words", "c", `${"a".repeat(900)} `.repeat(60)],
  ["a line", "bash", "deadbeef ".repeat(4000)],
  ["white space", "typescript", "\n".repeat(59_000)],
  ["a key over many lines", "ini", "a.\n".repeat(19_000)],
  ["a number", "bash", `echo ${"deadbeef".repeat(5000)}`],
])("leaves code plain if its grammar would be too slow: %s", (_, language, text) => {
  expect(highlightCode(text, language)).toBeUndefined();
  expect(renderMarkdown(`\`\`\`${language}\n${text}\n\`\`\``)?.__html).not.toContain("hljs");
});

test("highlights ordinary code of any size", () => {
  const code = "  const total = lines.reduce((sum, { price }) => sum + price, 0); // rounded once\n".repeat(
    700,
  );
  expect(highlightCode(code, "typescript")?.__html).toContain("hljs-keyword");
  expect(highlightCode("[section]\na.b = 1\n".repeat(300), "ini")?.__html).toContain("hljs-attr");
});

test("highlighting line by line keeps the text, and each line closes its marks", () => {
  const text = "/* one\ntwo */\nconst a = `x\n`;\n<script>";
  const lines = highlightLines(text, "typescript")?.map(({ __html }) => __html) ?? [];
  expect(lines).toHaveLength(5);
  const plain = lines.map((line) => line.replace(/<[^>]*>/g, ""));
  expect(plain.join("\n").replaceAll("&lt;", "<").replaceAll("&gt;", ">")).toBe(text);
  for (const line of lines)
    expect(line.match(/<span/g)?.length ?? 0).toBe(line.match(/<\/span>/g)?.length ?? 0);
  expect(lines[1]).toContain("hljs-comment");
});
