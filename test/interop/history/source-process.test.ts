import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { importSessions as importPublicly } from "sessiontree/import";
import { fileStore as publicFileStore } from "sessiontree/stores";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  type ImportSessionsOptions,
  importWith,
  type SessionImport,
} from "../../../src/interop/history/import-sessions.ts";
import { SourceProcess } from "../../../src/interop/history/source-process.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import { buildProgram } from "../../support/build-program.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { joinLines, part, SESSION_ID, text, user } from "../import/support/claude-records.ts";
import { Places } from "./support/places.ts";

const isDist = process.env["SESSIONTREE_TEST_TARGET"] === "dist";
const LARGE_ID = "11111111-2222-4333-8444-000000000001";
const LARGE_PATH = `.claude/projects/-deadly/${LARGE_ID}.jsonl`;
const LARGE = "x".repeat(65 * 1024 ** 2);

let program: URL;
beforeAll(async () => {
  program = await buildProgram("src/interop/history/source-worker.ts");
});

/** Creates a home with a large session, which another process reads, and a small one. */
function twoSessions(large = LARGE): Places {
  const places = new Places();
  const mine = { sessionId: LARGE_ID };
  const records = joinLines([
    { ...user("q1", null, "look"), ...mine },
    part("a1", "q1", "msg_1", text("LARGE"), mine),
  ]);
  places.put(LARGE_PATH, records.replace('"LARGE"', `"${large}"`));
  places.put(
    `.claude/projects/-code/${SESSION_ID}.jsonl`,
    joinLines([user("q", null, "hello"), part("a", "q", "msg_1", text("hi"))]),
  );
  return places;
}

interface Run {
  readonly found: SessionImport[];
  readonly skipped: string[];
}

async function run(places: Places, by: URL, more: Partial<ImportSessionsOptions> = {}): Promise<Run> {
  const skipped: string[] = [];
  const found: SessionImport[] = [];
  const options = {
    store: fileStore({ sessionDir: places.sessions }),
    env: { HOME: places.home },
    cacheDir: places.cacheDir,
    now: () => Date.UTC(2027, 0, 1),
    onSkipped: (_path: string, error: unknown) => skipped.push(String(error)),
    ...more,
  };
  for await (const one of importWith(by, options)) found.push(one);
  return { found, skipped };
}

function digests(places: Places): string[] {
  return Array.from(
    places.files(),
    ([name, text]) => `${name} ${createHash("sha256").update(text).digest("hex")}`,
  );
}

/** Writes a program that runs code for each task before the reader does. */
function wrapped(code: string): { program: URL; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-wrapped-"));
  onTestFinished(() => removeFolder(folder));
  const path = join(folder, "program.mjs");
  const log = JSON.stringify(join(folder, "pid"));
  writeFileSync(
    path,
    `import { writeFileSync } from "node:fs";
process.on("message", ({ name, args }) => {
  writeFileSync(${log}, String(process.pid));
  ${code}
});
await import(${JSON.stringify(program.href)});`,
  );
  return { program: pathToFileURL(path), folder };
}

/** Counts the processes that are started from now on. */
function countProcesses(): { started: number } {
  const seen = { started: 0 };
  const count = () => {
    seen.started++;
  };
  subscribe("child_process", count);
  onTestFinished(() => {
    unsubscribe("child_process", count);
  });
  return seen;
}

test.each(["readFileFacts", "readSourceSession"])(
  "reports a file that ends the process in %s on one line, and imports everything else",
  async (name) => {
    const places = twoSessions();
    const { found, skipped } = await run(places, wrapped(`if (name === "${name}") process.abort();`).program);
    expect(found.map(({ sourceId }) => sourceId)).toEqual([SESSION_ID]);
    expect(skipped).toEqual([
      expect.stringMatching(/^SessionError: Reading \S+1\.jsonl crashed the process that reads it; [^\n]+$/),
    ]);
  },
);

test("a signal ends a process that does not answer", async () => {
  const places = twoSessions();
  const { program: endless, folder } = wrapped("for (;;);");
  const controller = new AbortController();
  const imported = run(places, endless, { signal: controller.signal });
  await expect.poll(() => existsSync(join(folder, "pid"))).toBe(true);
  controller.abort();
  await expect(imported).rejects.toMatchObject({ code: "ABORTED" });
  const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("ends a process that takes too long, and starts another one for the next task", async () => {
  const { program: slow } = wrapped('if (args[0].path === "slow") for (;;);');
  const reader = new SourceProcess(slow, undefined);
  onTestFinished(() => reader.close());
  const read = (path: string, bytes: number) =>
    reader.run({ name: "readFileFacts", args: [{ path, size: 0, mtimeMs: 0 }] }, path, bytes);
  // A byte count so low that no time is left.
  await expect(read("slow", -299_000_000)).rejects.toThrow(/slow took too long, and was stopped/);
  await expect(read("/nowhere.jsonl", 0)).rejects.toMatchObject({ code: "ENOENT" });
});

describe("sources read by the process", () => {
  const NOWHERE = new URL("file:///nowhere/program.js");

  test("give the same sessions as without it, in files and in a store", async () => {
    const places = twoSessions();
    const seen = countProcesses();
    const alone = await run(places, NOWHERE);
    const files = digests(places);
    expect(seen.started).toBe(0);
    removeFolder(places.sessions);
    removeFolder(places.cacheDir);
    expect(await run(places, program)).toEqual(alone);
    expect(digests(places)).toEqual(files);
    removeFolder(places.cacheDir);
    const into = { store: memoryStore(), storeName: "memory" };
    expect((await run(places, program, into)).found).toHaveLength(2);
    expect(seen.started).toBe(2);
  });

  test.each([
    ["ends at once", ""],
    ["fails", "throw new Error('no')"],
  ])("are read without it if its program %s", async (_, code) => {
    const places = twoSessions();
    const path = places.put("program.mjs", code);
    const { found, skipped } = await run(places, pathToFileURL(path));
    expect([found.length, skipped]).toEqual([2, []]);
  });

  test("exclude small files", async () => {
    const seen = countProcesses();
    expect((await run(twoSessions("small"), program)).found).toHaveLength(2);
    expect(seen.started).toBe(0);
  });
});

/** Imports in a program that does nothing else, so that only the import keeps it alive; returns its sorted output. */
async function importAlone(places: Places, nodeOptions: readonly string[] = []): Promise<string[]> {
  const outfile = places.put("import.mjs", "");
  await build({
    stdin: {
      contents: `import { importWith } from "./src/interop/history/import-sessions.ts";
        import { fileStore } from "./src/stores/file/file-store.ts";
        const [program, sessionDir, HOME, cacheDir] = process.argv.slice(2);
        const onSkipped = (path, error) => console.log(String(error));
        const options = { store: fileStore({ sessionDir }), env: { HOME }, cacheDir, dryRun: true, onSkipped };
        for await (const { status } of importWith(new URL(program), options)) console.log(status);
        console.log("the end");`,
      resolveDir: fileURLToPath(new URL("../../../", import.meta.url)),
    },
    outfile,
    bundle: true,
    logLevel: "error",
    platform: "node",
    format: "esm",
  });
  const args = [...nodeOptions, outfile, program.href, places.sessions, places.home, places.cacheDir];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim().split("\n").sort();
}

test("end with the import, also in a program without other work", async () => {
  expect(await importAlone(twoSessions())).toEqual(["new", "new", "the end"]);
});

test("do not end an import if a session needs more memory than available", async () => {
  const places = twoSessions();
  const deep = readFileSync(join(places.home, LARGE_PATH), "utf8").replace(
    `"${LARGE}"`,
    `[${"[],".repeat(23e6)}[]]`,
  );
  places.put(LARGE_PATH, deep);
  expect(await importAlone(places, ["--max-old-space-size=200"])).toEqual([
    expect.stringMatching(/^SessionError: Reading \S+ crashed the process/),
    "new",
    "the end",
  ]);
});

test.skipIf(!isDist)("the package contains the process's program (skipped except on the build)", async () => {
  const places = twoSessions();
  const seen = countProcesses();
  const store = publicFileStore({ sessionDir: places.sessions });
  const options = { store, env: { HOME: places.home }, cacheDir: places.cacheDir };
  const found: string[] = [];
  for await (const { status } of importPublicly(options)) found.push(status);
  expect(found).toEqual(["new", "new"]);
  expect(seen.started).toBe(1);
});
