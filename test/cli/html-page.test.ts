import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { htmlPage, readPageAsset } from "../../src/cli/page/html-page.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/", import.meta.url));
const MOST_ASSET_BYTES = 480_000;

function pageOf(text: string | Uint8Array, fileName = "s.jsonl"): string {
  return htmlPage({ bytes: typeof text === "string" ? new TextEncoder().encode(text) : text, fileName });
}

/** What stands in the block of data. */
function dataIn(page: string): unknown {
  const [, json = ""] = /<script type="application\/json" id="session">([^<]*)<\/script>/.exec(page) ?? [];
  return JSON.parse(json);
}

function hash(text = ""): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

test("only the script and the style of the page may run and apply, by their hashes", () => {
  const page = pageOf("{}\n");
  const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
  const [, style] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
  const [, script] = /<script>(.*?)<\/script>/s.exec(page) ?? [];
  expect(policy.split("; ")).toEqual([
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "img-src data:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  expect(page.indexOf("Content-Security-Policy")).toBeLessThan(page.indexOf("<style>"));
});

test("the page names nothing that a browser would load, and is not large", () => {
  const { script, style } = readPageAsset();
  expect(Buffer.byteLength(script) + Buffer.byteLength(style)).toBeLessThan(MOST_ASSET_BYTES);
  expect(style).not.toMatch(/@import|url\(/);
  // Not toMatch, which would print all of it.
  expect(/<\/?script|<!--/i.test(script)).toBe(false);
  expect(/\beval\(|new Function\(|sourceMappingURL/.test(script)).toBe(false);
  expect(pageOf("{}\n").match(/<(?:link|script src|iframe|img)/g)).toBeNull();
});

test.each([
  "</script><script>alert(1)</script>",
  "<!--<script>",
  "]]></SCRIPT >",
  "\u2028\u2029\u0000\r\n\ufeff",
  "$& $1 $`",
  '","fileName":"other',
])("nothing in a session ends its block, and it comes back as it was: %j", (text) => {
  const page = pageOf(text, `${text}.jsonl`);
  expect(dataIn(page)).toEqual({ text, fileName: `${text}.jsonl` });
  expect(page.match(/<script/g)).toHaveLength(2);
  expect(page.match(/<\/script/g)).toHaveLength(2);
});

test("bytes that are no text come back byte by byte", () => {
  const bytes = Uint8Array.from([0x7b, 0xff, 0x00, 0xc3, 0x0a]);
  expect(dataIn(pageOf(bytes))).toEqual({
    base64: Buffer.from(bytes).toString("base64"),
    fileName: "s.jsonl",
  });
});

test("every fixture can be shown, whatever state it is in", () => {
  for (const folder of ["v1", "v2", "v3", "v4", "branches", "broken", "compaction"]) {
    for (const name of readdirSync(FIXTURES + folder).filter((one) => one.endsWith(".jsonl"))) {
      const bytes = readFileSync(`${FIXTURES}${folder}/${name}`);
      expect(dataIn(pageOf(bytes)), name).toBeTypeOf("object");
    }
  }
});

test("a session with a line of many megabytes becomes a page", () => {
  const text = JSON.stringify({ type: "session", id: "<".repeat(8_000_000) });
  expect(dataIn(pageOf(text))).toMatchObject({ text });
});
