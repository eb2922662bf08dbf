import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { bundleForBrowser, runAsInBrowser } from "./support/browser.ts";
import { ROOT, TARGET } from "./support/repository.ts";

const core = join(ROOT, TARGET === "dist" ? "dist/core.js" : "src/core.ts");

test("core imports no module of Node", async () => {
  const { nodeImports } = await bundleForBrowser(core);
  expect(nodeImports).toEqual([]);
});

test("core runs without Node", async () => {
  const bundle = await bundleForBrowser(core);
  const lines = [
    '{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/project"}',
    '{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z",' +
      '"message":{"role":"user","content":"Hello","timestamp":1767225601000}}',
  ];
  const script = `(() => {
    const records = bundle.parseSessionEntries(${JSON.stringify(`${lines.join("\n")}\n`)});
    const { messages } = bundle.buildSessionContext(records.slice(1));
    return { version: bundle.CURRENT_SESSION_VERSION, type: records[0].type, messages,
      tokens: bundle.estimateTokens(messages[0]) };
  })()`;
  expect(runAsInBrowser(bundle, script)).toEqual({
    version: 3,
    type: "session",
    messages: [{ role: "user", content: "Hello", timestamp: 1767225601000 }],
    tokens: 2,
  });
});

test("the conversions import no module of Node, and run without Node", async () => {
  const bundle = await bundleForBrowser(join(ROOT, TARGET === "dist" ? "dist/convert.js" : "src/convert.ts"));
  expect(bundle.nodeImports).toEqual([]);
  const script = `bundle.toAnthropic(bundle.fromAnthropic([{ role: "user", content: "Hello" }], { timestamp: 1 }).messages)`;
  expect(runAsInBrowser(bundle, script)).toEqual({
    messages: [{ role: "user", content: "Hello" }],
    issues: [],
  });
});

/** Writes a file that is removed after the test. */
function temporaryFile(text: string): string {
  const folder = temporaryFolder();
  const path = join(folder, "entry.ts");
  writeFileSync(path, text);
  return path;
}

test("the check finds modules of Node, with or without node:, and their importers", async () => {
  const entry = temporaryFile(
    'import { join } from "node:path";\nimport fs from "fs";\nexport { fs, join };\n',
  );
  const { nodeImports } = await bundleForBrowser(entry);
  expect(nodeImports).toEqual([`${entry} imports node:path`, `${entry} imports fs`]);
});

test("the check finds globals that only Node has", async () => {
  const bundle = await bundleForBrowser(temporaryFile("export const bytes = () => Buffer.from([1]);\n"));
  expect(() => runAsInBrowser(bundle, "bundle.bytes()")).toThrow("Buffer is not defined");
  const early = await bundleForBrowser(temporaryFile("export const home = process.env.HOME;\n"));
  expect(() => runAsInBrowser(early, "bundle.home")).toThrow("process is not defined");
});
