import { appendFileSync, rmSync } from "node:fs";
import { listTrashed, restoreSession } from "sessiontree/catalog";
import { describe, expect, test } from "vitest";
import { makeFileSource } from "../../../src/apps/recall/session-source.ts";
import { canReadDatabases } from "../../../src/interop/history/sqlite.ts";
import { cli } from "../../apps/cli/support/cli.ts";
import { ask, recallOver } from "../../apps/recall/support/past.ts";
import { joinLines, part, text } from "../../interop/import/support/claude-records.ts";
import { isSampled } from "../../support/share.ts";
import { PlantedHome, SECRET } from "./support/planted-home.ts";

type Operation = (home: PlantedHome) => unknown;

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(args, { cwd: "/" });
  if (code > 1) throw new Error(`${args.join(" ")}: ${stderr}`);
  return stdout;
}

const importAll = ({ sources }: PlantedHome, ...more: string[]) =>
  cli(["import", "--all", ...more], { cwd: "/", env: { HOME: sources } });

const redactAll = () => run("redact", "--matching", SECRET, "--all", "--yes");

/** Runs a command with the path of each session, one after another. */
const forEach =
  (command: string, ...more: string[]): Operation =>
  async (home) => {
    for (const path of home.sessions()) await run(command, path, ...more);
  };

const OPERATIONS: { readonly [name: string]: Operation } = {
  import: async (home) => {
    appendFileSync(home.claude, joinLines([part("more", "q", "msg_2", text("harmless"))]));
    await importAll(home);
    // Without the cache, an import reads everything again.
    rmSync(home.cache, { recursive: true, force: true });
    await importAll(home);
  },
  "import of what was deleted": (home) => importAll(home, "--again"),
  view: async (home) => {
    await run("list", "--all");
    await run("search", "--all", SECRET);
    await run("stats", "--all");
    await forEach("show")(home);
    await forEach("view", "--no-open")(home);
  },
  recall: async () => {
    const source = makeFileSource({ includeImported: true });
    const recall = recallOver(source, "/project", { project: undefined });
    for (const name of ["search_sessions", "find_failures"])
      await ask(recall, name, { query: SECRET, error: SECRET });
  },
  redaction: redactAll,
  deletion: forEach("rm", "--yes"),
  "permanent deletion": forEach("rm", "--yes", "--permanent"),
  restoration: async () => {
    for (const one of await listTrashed()) await restoreSession(one);
  },
  pruning: () => run("prune", "--older-than", "1h", "--all", "--yes"),
  change: async (home) => {
    for (const command of ["repair"]) await forEach(command)(home);
    await forEach("name", "another")(home);
    if (!home.sessions().includes(home.own)) return;
    await run("merge", home.own, home.fork, "--in-place", "--allow-different-ids");
    // A backup may be in the trash as well.
    await run("rm", `${home.own}.bak`, "--yes");
  },
  kill: (home) => {
    home.leaveKilledImport();
    home.leaveKilledView();
    home.leaveKilledRedaction();
  },
};

const names = Object.keys(OPERATIONS);
const pairs = names.flatMap((first) => names.map((second) => [first, second] as const));

// On older versions of Node, the homes have no database of another program.
describe(`a secret is nowhere after a redaction (with a database: ${canReadDatabases()})`, () => {
  test.each(pairs.filter((_, number) => isSampled(number)))("with %s and %s", async (first, second) => {
    const home = new PlantedHome();
    await importAll(home);
    await run("list", "--all");
    const planted = [...home.sessions(), home.cache].filter((path) =>
      home.holders().some((one) => one.startsWith(path)),
    );
    expect(planted).toHaveLength(home.sessions().length + 1);
    let isRedacted = false;
    for (const name of [first, second, "redaction"]) {
      await OPERATIONS[name]?.(home);
      isRedacted = name === "redaction" || (isRedacted && name !== "kill");
      if (isRedacted) expect([name, home.holders()]).toEqual([name, []]);
    }
  });
});
