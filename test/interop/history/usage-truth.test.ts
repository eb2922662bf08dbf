import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readImportOrigin } from "../../../src/catalog/list/deleted-imports.ts";
import { collectUsage } from "../../../src/catalog/usage/collect-usage.ts";
import type { UsageGroup } from "../../../src/catalog/usage/usage-groups.ts";
import { canReadDatabases } from "../../../src/interop/history/sqlite.ts";
import { readTruth, type Truth } from "../import/support/truth.ts";
import { Places } from "./support/places.ts";

const CORPUS = fileURLToPath(new URL("../../../../shared/corpus-other-agents/", import.meta.url));
const isThere = existsSync(CORPUS);
if (!isThere)
  console.warn("skipped: sums over what other programs wrote: ../shared/corpus-other-agents is missing");

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

/** Torn files lack the torn records. */
function casesOf(): (readonly [program: string, name: string, home: string])[] {
  if (!isThere) return [];
  return Object.entries(HOMES).flatMap(([program, home]) =>
    readdirSync(join(CORPUS, "generated", program))
      .filter((name) => !name.includes("torn"))
      .map((name) => [program, name, home] as const),
  );
}

const NAMES = ["input", "output", "cacheRead", "cacheWrite"] as const;
const NONE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
type Tokens = typeof NONE;

/** Sums the tokens of calls by a key. */
function sumsBy<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  tokensOf: (item: T) => Tokens,
): Map<string, Tokens> {
  const sums = new Map<string, Tokens>();
  for (const item of items) {
    const sum = sums.get(keyOf(item)) ?? { ...NONE };
    for (const name of NAMES) sum[name] += tokensOf(item)[name];
    sums.set(keyOf(item), sum);
  }
  return new Map([...sums].filter(([, sum]) => NAMES.some((name) => sum[name] > 0)).sort());
}

/** Returns the calls whose tokens the program received: those that its server completed. */
function callsOf(truth: Truth) {
  const main = truth.prompts[0]?.session ?? "";
  const bySubagents = truth.subagents.flatMap(({ calls }) =>
    calls.map((call) => ({ ...call, session: main })),
  );
  const all = [...truth.prompts.flatMap(({ calls }) => calls), ...bySubagents];
  const summaries = truth.compactions.flatMap(({ call }) => call ?? []);
  const told = [...all, ...summaries, ...truth.sideCalls].map((one) => ({
    ...one,
    session: one.session ?? main,
  }));
  return told.filter(({ completeStream, httpStatus }) => completeStream === true && httpStatus === 200);
}

function tokensOfGroup({ input, output, cacheRead, cacheWrite }: UsageGroup): Tokens {
  return { input, output, cacheRead, cacheWrite };
}

describe.skipIf(!isThere)("sums over sessions of other programs", () => {
  test.each(casesOf())("%s %s", async (program, name, home) => {
    const folder = join(CORPUS, "generated", program, name);
    const truth = readTruth(join(folder, "truth.json"));
    const places = new Places();
    for (const file of truth.files) places.put(join(home, file), readFileSync(join(folder, file)));
    await places.import();
    const scope = { sessionDir: places.sessions, cacheDir: places.cacheDir };
    const calls = callsOf(truth);
    const tokensOf = ({ usage }: (typeof calls)[number]) => usage ?? NONE;
    const bySession = await collectUsage({ ...scope, by: ["session"] });
    const main = bySession.groups.filter(({ subagentOf }) => subagentOf === undefined);
    const sourceOf = ({ by }: UsageGroup) => readImportOrigin(by.session?.path ?? "")?.sourceId ?? "";
    expect(sumsBy(main, sourceOf, tokensOfGroup)).toEqual(
      sumsBy(calls, ({ session }) => session ?? "", tokensOf),
    );
    expect(bySession.total.calls).toBe(
      calls.filter((one) => NAMES.some((of) => tokensOf(one)[of] > 0)).length,
    );
    const byModel = await collectUsage({ ...scope, by: ["model"] });
    const modelOf = ({ by }: UsageGroup) => by.model?.split("/")[1] ?? "";
    expect(sumsBy(byModel.groups, modelOf, tokensOfGroup)).toEqual(
      sumsBy(calls, ({ model }) => model, tokensOf),
    );
  });
});
