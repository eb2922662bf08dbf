import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { formatContextSize } from "../../../src/apps/text/usage-text.ts";
import { cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";

const COMPACTED = fileURLToPath(new URL("../../../fixtures/compaction/", import.meta.url));

test("stats and context show the same number and its source, also after a compaction", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Start.");
  scribe.assistant("Done.");
  scribe.user("x".repeat(400));
  const after = new Scribe(temporaryFolder());
  after.user("Before.");
  after.assistant("Done.");
  after.session.appendCompaction("So far.", after.user("Kept."), 1000);
  const fixtures = readdirSync(COMPACTED).filter((name) => name.endsWith(".jsonl"));
  for (const path of [scribe.path, after.path, ...fixtures.map((name) => join(COMPACTED, name))]) {
    const [context, stats] = await Promise.all([cli(["context", path]), cli(["stats", path])]);
    const ofContext = /^context: (.*)$/m.exec(context.stdout)?.[1];
    const ofStats = /^context +(.*)$/m.exec(stats.stdout)?.[1];
    expect(ofContext, path).toMatch(/tokens?(?:,|:) /);
    expect(ofStats, path).toBe(ofContext);
    const [json] = jsonLines(await cli(["stats", path, "--json"]));
    const [contextJson] = jsonLines(await cli(["context", path, "--json"]));
    expect(json).toMatchObject({
      context: { tokens: (contextJson as { context: { tokens: number } }).context.tokens },
    });
  }
});

test("shows which part of a context the model counted, and which is estimated", () => {
  expect(formatContextSize({ tokens: 0, usageTokens: 0, trailingTokens: 0 })).toBe(
    "about 0 tokens, estimated",
  );
  expect(formatContextSize({ tokens: 1200, usageTokens: 1200, trailingTokens: 0 })).toBe(
    "1,200 tokens, counted by the model",
  );
  expect(formatContextSize({ tokens: 1250, usageTokens: 1200, trailingTokens: 50 })).toBe(
    "about 1,250 tokens: 1,200 counted by the model, 50 estimated since",
  );
});
