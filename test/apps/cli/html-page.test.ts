import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { makeHtmlPage, readPageAsset } from "../../../src/apps/cli/page/html-page.ts";
import { readBytes, readData } from "./support/page-data.ts";

const FIXTURES = fileURLToPath(new URL("../../../fixtures/", import.meta.url));
/** The script and the style of a page, which every exported page contains. */
const MAX_ASSET_BYTES = 522_000;

function pageOf(text: string | Uint8Array, fileName = "s.jsonl"): string {
  return makeHtmlPage({ bytes: typeof text === "string" ? new TextEncoder().encode(text) : text, fileName });
}

function hash(text = ""): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

test("only the page's script and style can run and apply, by their hashes", () => {
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

test("the page refers to nothing that a browser would load, and is small", () => {
  const { script, style } = readPageAsset();
  expect(Buffer.byteLength(script) + Buffer.byteLength(style)).toBeLessThan(MAX_ASSET_BYTES);
  expect(style).not.toMatch(/@import|url\(/);
  // Not toMatch, which would print all of it.
  expect(/<\/?script|<!--/i.test(script)).toBe(false);
  expect(/\beval\(|new Function\(|sourceMappingURL/.test(script)).toBe(false);
  expect(pageOf("{}\n").match(/<(?:link(?! rel="icon" href="data:,">)|script src|iframe|img)/g)).toBeNull();
});

test.each([
  "</script><script>alert(1)</script>",
  "<!--<script>",
  "]]></SCRIPT >",
  "\u2028\u2029\u0000\r\n\ufeff",
  "$& $1 $`",
  '","fileName":"other',
])("no string in a session ends its block, and all return unchanged: %j", (text) => {
  const page = pageOf(text, `${text}.jsonl`);
  expect(readData(page)).toEqual({ fileName: `${text}.jsonl`, size: Buffer.byteLength(text) });
  expect(readBytes(page).toString()).toBe(text);
  expect(page.match(/<script/g)).toHaveLength(3);
  expect(page.match(/<\/script/g)).toHaveLength(3);
});

test("bytes that are not UTF-8 return byte for byte", () => {
  const bytes = Uint8Array.from([0x7b, 0xff, 0x00, 0xc3, 0x0a]);
  expect([...readBytes(pageOf(bytes))]).toEqual([...bytes]);
});

test("shows every fixture, whatever its state", () => {
  for (const folder of ["v1", "v2", "v3", "v4", "branches", "broken", "compaction"]) {
    for (const name of readdirSync(FIXTURES + folder).filter((one) => one.endsWith(".jsonl"))) {
      const bytes = readFileSync(`${FIXTURES}${folder}/${name}`);
      expect(readBytes(pageOf(bytes)).equals(bytes), name).toBe(true);
    }
  }
});

test("stores a session of many megabytes on one line in several blocks, and in fewer bytes", () => {
  const text = JSON.stringify({ type: "session", id: "<".repeat(8_000_000) });
  const page = pageOf(text);
  expect(readBytes(page).toString() === text).toBe(true);
  expect(page.match(/application\/gzip"/g)?.length).toBeGreaterThan(4);
  expect(page.length).toBeLessThan(1_000_000);
});
