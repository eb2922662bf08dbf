import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { buildSessionContext } from "../../../src/core/context/session-context.ts";
import { isKnownEntry } from "../../../src/core/format/entry.ts";
import { readSession } from "../../../src/core/jsonl/read-session.ts";
import { toAnthropic } from "../../../src/interop/convert/anthropic/to-anthropic.ts";
import { toOpenAIResponses } from "../../../src/interop/convert/openai-responses/to-openai-responses.ts";
import { canReadDatabases } from "../../../src/interop/history/sqlite.ts";
import { cli } from "../../apps/cli/support/cli.ts";
import { checkAnthropicRequest } from "../../support/provider-rules/anthropic.ts";
import { checkOpenAIResponsesRequest } from "../../support/provider-rules/openai-responses.ts";
import { readTruth } from "../import/support/truth.ts";
import { Places } from "./support/places.ts";

const CORPUS = fileURLToPath(new URL("../../../../shared/corpus-other-agents/", import.meta.url));
const isThere = existsSync(CORPUS);
if (!isThere)
  console.warn("skipped: imports of what other programs wrote: ../shared/corpus-other-agents is missing");

/** Folders of the programs' files below the home folder. */
const HOMES: { readonly [program: string]: string } = {
  "claude-code": ".claude/projects/-home-ada-project",
  cline: ".cline",
  codex: ".codex",
  copilot: ".copilot",
  kimi: ".kimi-code",
  qwen: ".qwen",
  // A database.
  ...(canReadDatabases() && { opencode: ".local/share/opencode" }),
};

function casesOf(): (readonly [program: string, name: string])[] {
  if (!isThere) return [];
  return Object.keys(HOMES).flatMap((program) =>
    readdirSync(join(CORPUS, "generated", program)).map((name) => [program, name] as const),
  );
}

/** The files of a case by their path below the home folder. */
function filesOf(program: string, name: string): Map<string, Buffer> {
  const folder = join(CORPUS, "generated", program, name);
  const { files } = readTruth(join(folder, "truth.json"));
  return new Map(files.map((file) => [join(HOMES[program] ?? "", file), readFileSync(join(folder, file))]));
}

/** Returns a session's lines without what only the first import recorded. */
function withoutCounts(text: string): string {
  return text.replace(/"counts":\{[^}]*\}/, "");
}

describe.skipIf(!isThere)("sessions of other programs", () => {
  test.each(casesOf())(
    "%s %s in three steps is the same as at once, and passes verify",
    async (program, name) => {
      const files = filesOf(program, name);
      const atOnce = new Places();
      for (const [path, bytes] of files) atOnce.put(path, bytes);
      const whole = await atOnce.import();
      expect(whole.flatMap(({ issues }) => issues).filter(({ code }) => code !== "TAIL_TORN")).toEqual([]);
      const inSteps = new Places();
      for (const part of [0.4, 0.8, 1]) {
        for (const [path, bytes] of files) {
          const isWhole = !path.endsWith(".jsonl");
          inSteps.put(path, isWhole ? bytes : bytes.subarray(0, Math.floor(bytes.length * part)));
        }
        await inSteps.import({ onSkipped: () => undefined });
      }
      const expected = atOnce.files();
      const found = inSteps.files();
      expect([...found.keys()]).toEqual([...expected.keys()]);
      for (const [file, text] of expected) {
        const other = (found.get(file) ?? "").replaceAll(inSteps.root, atOnce.root);
        expect(withoutCounts(other), file).toBe(withoutCounts(text));
        const verified = await cli(["verify", "--schema", join(atOnce.sessions, file)]);
        expect([verified.code, verified.stderr]).toEqual([0, ""]);
      }
    },
  );

  test.each(casesOf())(
    "%s %s makes requests that its provider accepts, from every leaf",
    async (program, name) => {
      const places = new Places();
      for (const [path, bytes] of filesOf(program, name)) places.put(path, bytes);
      for (const { path } of await places.import()) {
        const { entries } = readSession(readFileSync(path ?? "", "utf8"));
        const parents = new Set(entries.map(({ parentId }) => parentId));
        const leaves = entries.filter(({ id }) => !parents.has(id));
        expect(leaves.length).toBeGreaterThan(0);
        for (const { id } of leaves) {
          const { messages } = buildSessionContext(entries.filter(isKnownEntry), id);
          messages.push({ role: "user", content: "Go on.", timestamp: 0 });
          const { issues: _, ...anthropic } = toAnthropic(messages);
          expect(checkAnthropicRequest(anthropic)).toEqual([]);
          const { issues: __, ...openai } = toOpenAIResponses(messages);
          expect(checkOpenAIResponsesRequest(openai)).toEqual([]);
        }
      }
    },
  );
});
