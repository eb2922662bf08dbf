import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../src/apps/cli/commands.ts";
import { isJsonRecord } from "../../../src/core/format/json.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { joinLines } from "../../interop/import/support/claude-records.ts";
import { meta, numbered, said, THREAD_ID, turn } from "../../interop/import/support/codex-records.ts";
import { type CliResult, cli, jsonLines } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";
import { URL_OF_STORE } from "./support/stores.ts";
import { FakeTerminal } from "./support/terminal.ts";
import { folderWithTrash } from "./support/trash.ts";

const ID = "0198aaaa-0000-7000-8000-000000000001";
const NAME = "Tulips";

/** A session with everything that commands refer to, and files for commands that need others. */
function makeWorld() {
  const folder = folderWithTrash();
  const scribe = new Scribe(folder, ID);
  const root = scribe.user("Plant a tulip");
  const side = scribe.assistant("Which color?");
  scribe.session.branch(root);
  scribe.call("bash", { command: "npm run plant" });
  scribe.result("no tulip", true);
  const leaf = scribe.assistant("There is none. ".repeat(40));
  scribe.session.appendLabelChange(leaf, "here");
  scribe.session.appendSessionInfo(NAME);
  const entries = scribe.session.getEntries().map(({ id }) => id);
  const created = scribe.session.getHeader()?.timestamp ?? "";
  const { path } = scribe;
  const other = join(folder, "copies", "other.jsonl");
  mkdirSync(dirname(other));
  copyFileSync(path, other);
  const old = join(folder, "copies", "old.jsonl");
  copyFileSync("fixtures/v1/fix-the-totals.jsonl", old);
  const home = join(folder, "home");
  const codex = join(home, ".codex/sessions/2026/11/22", `rollout-2026-11-22T05-00-00-${THREAD_ID}.jsonl`);
  mkdirSync(dirname(codex), { recursive: true });
  writeFileSync(codex, joinLines(numbered([meta(), ...turn("Count the taps", said("assistant", "Three."))])));
  return { folder, scribe, path, other, old, home, root, side, leaf, entries, created };
}

type World = ReturnType<typeof makeWorld>;

/** Damages the body of an entry of a session: its head stays readable. */
function breakBody({ path }: World): void {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace('"content":"Plant a tulip"', '"content":Plant a tulip'));
}

/** Command lines to run for each command. */
const RUNS: { readonly [command: string]: (world: World) => Promise<CliResult[]> } = {
  list: (w) => json(["list", "--dir", w.folder]),
  resume: async (w) => {
    const terminal = new FakeTerminal();
    const result = cli(["resume", "--dir", w.folder, "--json"], { terminal });
    await terminal.shows("❯");
    terminal.press("\r");
    return [await result];
  },
  search: (w) => json(["search", "tulip", w.path], ["search", "--failed", w.path], searchAll(w)),
  tree: (w) => json(["tree", w.path], ["tree", w.path, "--tail", "2"]),
  show: async (w) => {
    const results = await json(["show", w.path], ["show", w.path, "@leaf"]);
    breakBody(w);
    return [...results, await cli(["show", w.path, w.root, "--json"])];
  },
  view: (w) => json(["view", w.path, "-o", join(w.folder, "page.html")]),
  context: (w) => json(["context", w.path], ["context", w.path, "--llm"]),
  diff: (w) => json(["diff", w.path, w.side, w.leaf]),
  stats: (w) =>
    json(
      ["stats", w.path],
      ["stats", w.path, "--leaf", w.side],
      ["stats", w.path, "--window", "9"],
      ["stats", "--dir", w.folder, "--by", "session"],
    ),
  watch: async (w) => {
    const interruption = new AbortController();
    const untilInterrupted = () => {
      w.scribe.user("One more");
      return interruption.signal;
    };
    return [
      await cli(["tree", w.path, "--follow", "--json"], {
        untilInterrupted,
        onOutput: () => interruption.abort(),
      }),
    ];
  },
  verify: async (w) => {
    breakBody(w);
    return [await cli(["verify", w.path, w.other, "nothing.jsonl", "--schema", "--json"])];
  },
  repair: async (w) => {
    appendFileSync(w.path, "garbage\n");
    return json(["repair", w.path, "--dry-run"], ["repair", w.path], ["repair", w.old]);
  },
  name: (w) =>
    json(
      ["name", w.path],
      ["name", w.path, NAME],
      ["name", w.path, w.leaf],
      ["name", w.path, w.root, "there"],
    ),
  fork: (w) => json(["fork", w.path, w.root], ["fork", w.path]),
  export: (w) => json(["export", w.path, "--markdown"], ["export", w.path, "--jsonl", join(w.folder, "b")]),
  "db copy": (w) => json(["db", "copy", w.path, "--to", join(w.folder, "target")]),
  continue: async (w) => [
    await cli(["continue", w.path, "--in", "codex", "--json"], { cwd: w.home, env: { HOME: w.home } }),
    await cli(["continue", w.path, "--in", "pi", "--json", "--cwd", w.home], { env: { HOME: w.home } }),
  ],
  import: async (w) => [await cli(["import", "--all", "--json"], { cwd: w.home, env: { HOME: w.home } })],
  keep: (w) => {
    const keep = (...words: string[]) =>
      cli(["keep", ...words, "--json"], { cwd: w.home, env: { HOME: w.home } });
    return Promise.all([keep("--status"), keep("--yes").then(() => keep("--off", "--yes"))]);
  },
  merge: (w) => {
    for (const path of [w.path, w.other])
      SessionManager.open(path).appendMessage({ role: "user", content: path, timestamp: 1 });
    appendFileSync(w.other, "garbage\n");
    return json(["merge", w.path, w.other, "-o", join(w.folder, "both.jsonl")]);
  },
  compact: (w) =>
    json(
      ["compact", w.path],
      ["compact", w.path, "--keep", "9", "--dry-run"],
      ["compact", w.path, "--keep", "9"],
    ),
  redact: (w) =>
    json(
      ["redact", w.path, w.side, "--yes"],
      ["redact", w.path, "--matching", "tulip", "--dry-run"],
      ["redact", w.path, "--matching", "tulip", "--yes"],
    ),
  rm: (w) => json(["rm", w.path, "--yes"]),
  restore: async (w) => [
    ...(await json(["rm", w.path, "--yes"])),
    ...(await json(["restore"], ["restore", "@last"])),
  ],
  prune: (w) => {
    const prune = ["prune", "--dir", w.folder, "--older-than", "1d"];
    return json([...prune, "--dry-run", "--verbose"], [...prune, "--yes"]);
  },
  "db migrate": () => json(["db", "migrate", "--store", URL_OF_STORE]),
  completion: () => json(["completion", "bash"]),
};

function searchAll({ folder }: World): string[] {
  return ["search", "--failed", "--dir", folder];
}

/** Runs commands in order with `--json`. */
async function json(...lines: (readonly string[])[]): Promise<CliResult[]> {
  const results: CliResult[] = [];
  for (const line of lines) results.push(await cli([...line, "--json"]));
  return results;
}

/** Names that other interfaces use for the same things. */
const SYNONYMS = [
  ...[
    "sessionId",
    "sessionFile",
    "sessionPath",
    "sessionName",
    "session_id",
    "file",
    "filePath",
    "createdAt",
  ],
  ...["entryId", "entryIds", "entry_id", "size"],
];

/** Names of lists; their counts are named like `entryCount`. */
const LISTS = ["entries", "messages", "issues", "labels", "branches", "failures"];

/** Names of fields with an entry's relation to another. */
const ENTRY_ROLES = ["entry", "entries", "leafId", "parentId", "firstKeptEntryId", "commonAncestorId"];

/** Lists the wrong names in a value that was written as JSON. */
function wrongNames(world: World, value: unknown, name = "", holder: object = {}): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => wrongNames(world, one, name, holder));
  if (isJsonRecord(value)) {
    if (isEntry(value) || name === "counts") return [];
    const isSession = value["path"] === world.path && !("kind" in value || "format" in value);
    const lacking = isSession && value["id"] !== ID ? [`${JSON.stringify(value)} has no id`] : [];
    return [...lacking, ...Object.entries(value).flatMap(([key, one]) => wrongNames(world, one, key, value))];
  }
  const isWrong = SYNONYMS.includes(name) || (typeof value === "number" && LISTS.includes(name));
  const wrong = isWrong ? [name] : [];
  if (typeof value !== "string") return wrong;
  const allowed = namesOf(world, value, holder);
  return allowed === undefined || allowed.includes(name) ? wrong : [...wrong, `${name}: ${value}`];
}

/** Returns whether a value is a stored entry, whose names are those of the format. */
function isEntry(value: object): boolean {
  return "parentId" in value && "type" in value && "timestamp" in value;
}

/** Returns the allowed names for a string; undefined for an unknown kind of string. */
function namesOf(
  { path, entries, created }: World,
  text: string,
  holder: object,
): readonly string[] | undefined {
  if (text === ID) return ["id"];
  // The origin of a fork is named as in its header.
  if (text === path) return ["path", "parentSession"];
  if (text === NAME) return ["name", "title"];
  if (text === created) return ["created"];
  return entries.includes(text) ? ENTRY_ROLES.filter((name) => name in holder) : undefined;
}

// Deletions use the trash, and only on Linux can the test replace it.
describe.runIf(process.platform === "linux")("with --json, the same thing has the same name", () => {
  // A server's or a hook's output has the names of its protocol.
  test.each(COMMANDS.map(({ name }) => name).filter((name) => !["mcp", "recall"].includes(name)))(
    "in %s",
    async (name) => {
      const world = makeWorld();
      const results = (await RUNS[name]?.(world)) ?? [];
      const values = results
        .filter(({ stdout }) => !stdout.startsWith('{"type":"session"'))
        .flatMap((result) => jsonLines(result));
      expect(values.length, results.map(({ stderr }) => stderr).join()).toBeGreaterThan(0);
      for (const { stdout, stderr } of results) expect(stdout, stderr).not.toBe("");
      expect(values.flatMap((value) => wrongNames(world, value))).toEqual([]);
    },
  );

  test("the test detects a wrong name", () => {
    const world = makeWorld();
    const { path, leaf, created } = world;
    const wrong = { id: leaf, path, sessionId: ID, entryIds: [leaf], made: created, size: 1, issues: 2 };
    expect(wrongNames(world, wrong)).toEqual([
      `${JSON.stringify(wrong)} has no id`,
      `id: ${leaf}`,
      ...["sessionId", `sessionId: ${ID}`, "entryIds", `entryIds: ${leaf}`],
      ...[`made: ${created}`, "size", "issues"],
    ]);
  });

  test("stats and context have a context's size in the same fields", async () => {
    const { path } = makeWorld();
    const results = await json(["context", path], ["stats", path]);
    const [ofContext, ofStats] = results.map((result) => Object(jsonLines(result)[0]).context);
    expect(Object.keys(ofContext)).toEqual(["tokens", "usageTokens", "trailingTokens"]);
    expect(ofStats).toEqual({ ...ofContext, contextWindow: null, percent: null });
  });
});
