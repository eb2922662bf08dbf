/**
 * Compares our sums with those of ccusage, over transcripts of Claude Code and Codex whose servers recorded what they reported.
 *
 * Usage: npx tsx test/bench/ccusage.ts [--corpus FOLDER] [--version 19.0.3]
 * Fetches ccusage with npx, which needs Node 22 or later. Prints a line for each case: tokens of the truth, ours, and ccusage's.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { collectUsage } from "../../src/catalog/usage/collect-usage.ts";
import { toArray, toNumber, toRecord } from "../../src/core/context/entry-fields.ts";
import { importSessions } from "../../src/interop/history/import-sessions.ts";
import { fileStore } from "../../src/stores/file/file-store.ts";

const { values } = parseArgs({
  options: {
    corpus: {
      type: "string",
      default: fileURLToPath(new URL("../../../shared/corpus-other-agents/generated", import.meta.url)),
    },
    version: { type: "string", default: "19.0.3" },
  },
});

interface Program {
  readonly name: string;
  /** Folders of the programs' transcripts, below a home folder. */
  readonly folder: string;
  readonly ccusage: { readonly command: string; readonly variable: string; readonly home: string };
}

const PROGRAMS: readonly Program[] = [
  {
    name: "claude-code",
    folder: ".claude/projects/-home-ada-project",
    ccusage: { command: "claude", variable: "CLAUDE_CONFIG_DIR", home: ".claude" },
  },
  {
    name: "codex",
    folder: ".codex",
    ccusage: { command: "codex", variable: "CODEX_HOME", home: ".codex" },
  },
];

/** Input without cache reads, output, cache reads, and cache writes. */
type Tokens = readonly [input: number, output: number, cacheRead: number, cacheWrite: number];

const sumTokens = (tokens: readonly Tokens[]): Tokens =>
  tokens.reduce(
    (sum, one) => [sum[0] + one[0], sum[1] + one[1], sum[2] + one[2], sum[3] + one[3]],
    [0, 0, 0, 0],
  );

function parsed(text: string): unknown {
  return JSON.parse(text);
}

/** Returns what the server reported for its completed calls, without titles and the like: transcripts do not contain them. */
function readTruth(folder: string): Tokens {
  const { totals } = toRecord(parsed(readFileSync(join(folder, "truth.json"), "utf8")));
  return sumTokens(
    ["main", "subagent", "compact"].map((part): Tokens => {
      const usage = toRecord(toRecord(toRecord(totals)[part])["usage"]);
      const of = (name: string) => toNumber(usage[name]);
      const cached = of("cached_tokens");
      return [
        of("input_tokens") - cached,
        of("output_tokens"),
        of("cache_read_input_tokens") + cached,
        of("cache_creation_input_tokens"),
      ];
    }),
  );
}

async function ours(home: string, work: string): Promise<Tokens> {
  const [sessionDir, cacheDir] = [join(work, "sessions"), join(work, "cache")];
  const options = { store: fileStore({ sessionDir }), env: { HOME: home }, cacheDir };
  for await (const _ of importSessions(options)) {
    // All of them.
  }
  const { total } = await collectUsage({ sessionDir, cacheDir });
  return [total.input, total.output, total.cacheRead, total.cacheWrite];
}

function theirs(home: string, { command, variable, home: root }: Program["ccusage"]): Tokens {
  const text = execFileSync(
    "npx",
    ["--yes", `ccusage@${values.version}`, command, "session", "--json", "--offline"],
    {
      env: { ...process.env, HOME: home, [variable]: join(home, root) },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  const { sessions, session } = toRecord(parsed(text));
  return sumTokens(
    [...toArray(sessions), ...toArray(session)].map(toRecord).map((one): Tokens => {
      const of = (name: string) => toNumber(one[name]);
      const cached = of("cachedInputTokens");
      return [
        of("inputTokens") - cached,
        of("outputTokens"),
        of("cacheReadTokens") + cached,
        of("cacheCreationTokens"),
      ];
    }),
  );
}

function shown(tokens: Tokens, truth: Tokens): string {
  const isSame = tokens.every((count, i) => count === truth[i]);
  return `${tokens.join(" ")}${isSame ? "" : " (differs)"}`;
}

if (!existsSync(values.corpus))
  throw new Error(`There are no transcripts at ${values.corpus}; name them with --corpus.`);
const counts = { cases: 0, ours: 0, theirs: 0 };
console.log("case\ttruth: input output read written\tours\tccusage");
for (const program of PROGRAMS) {
  for (const name of readdirSync(join(values.corpus, program.name))) {
    const from = join(values.corpus, program.name, name);
    const work = mkdtempSync(join(tmpdir(), "sessiontree-ccusage-"));
    const home = join(work, "home");
    mkdirSync(join(home, program.folder), { recursive: true });
    cpSync(from, join(home, program.folder), { recursive: true });
    rmSync(join(home, program.folder, "truth.json"));
    const truth = readTruth(from);
    const found = [await ours(home, work), theirs(home, program.ccusage)].map((one) => shown(one, truth));
    console.log([`${program.name} ${name}`, truth.join(" "), ...found].join("\t"));
    const [mine = "", other = ""] = found;
    counts.cases++;
    if (!mine.endsWith("(differs)")) counts.ours++;
    if (!other.endsWith("(differs)")) counts.theirs++;
    rmSync(work, { recursive: true });
  }
}
console.log(
  `Of ${counts.cases} cases, ${counts.ours} of ours and ${counts.theirs} of ccusage's equal the truth.`,
);
