import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { importSessions as importPublicly } from "sessiontree/import";
import { fileStore as publicFileStore } from "sessiontree/stores";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  type ImportSessionsOptions,
  importWith,
  type SessionImport,
} from "../../../src/interop/history/import-sessions.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { call, linesOf, part, result, text, user } from "../import/support/claude-records.ts";
import { meta, said, turn, usage } from "../import/support/codex-records.ts";
import { Places } from "./support/places.ts";

const isDist = process.env["SESSIONTREE_TEST_TARGET"] === "dist";
const folder = mkdtempSync(join(tmpdir(), "sessiontree-threads-"));
const program = pathToFileURL(join(folder, "worker.mjs"));

beforeAll(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL("../../../src/interop/history/import-worker.ts", import.meta.url))],
    outfile: fileURLToPath(program),
    bundle: true,
    logLevel: "error",
    platform: "node",
    format: "esm",
    banner: {
      js: 'import { createRequire as requireOfBundle } from "node:module"; const require = requireOfBundle(import.meta.url);',
    },
  });
});

afterAll(() => removeFolder(folder));

const idOf = (number: number) => `11111111-2222-4333-8444-${String(number).padStart(12, "0")}`;

/** A home with sessions of two programs, subagents, and forks whose parents stand elsewhere in the order. */
function manySessions(count = 24): Places {
  const places = new Places();
  for (let number = 0; number < count; number++) {
    const id = idOf(number);
    const mine = { sessionId: id };
    const names = { q: `q${number}`, a: `a${number}`, r: `r${number}`, b: `b${number}` };
    const forked = number % 5 === 4 ? { forkedFrom: { sessionId: idOf(count - number) } } : {};
    places.put(
      `.claude/projects/-code-project/${id}.jsonl`,
      linesOf([
        user(names.q, null, `prompt ${number} ${"x".repeat(number * 500)}`, { ...mine, ...forked }),
        part(names.a, names.q, `msg_${number}`, call(`t${number}`), mine),
        result(names.r, names.a, `t${number}`, "found", mine),
        part(names.b, number % 7 === 6 ? "nobody" : names.r, `msg_${number}_end`, text("done"), mine),
      ]),
    );
    const side = { ...mine, isSidechain: true, agentId: "abc" };
    if (number % 3 === 0) {
      places.put(
        `.claude/projects/-code-project/${id}/subagents/agent-abc.jsonl`,
        linesOf([user("u1", null, "look", side), part("v1", "u1", `msg_s${number}`, text("seen"), side)]),
      );
    }
    const threadId = idOf(number + 1000);
    places.put(
      `.codex/sessions/2026/11/22/rollout-2026-11-22T05-00-00-${threadId}.jsonl`,
      linesOf([
        meta({ id: threadId }),
        ...turn("one", said("assistant", "1"), usage("r1", { output_tokens: 5 })),
      ]),
    );
  }
  return places;
}

interface Run {
  readonly found: SessionImport[];
  readonly progress: [done: number, total: number][];
  readonly skipped: [path: string, message: string][];
  readonly files: Map<string, string>;
}

/** Imports into a folder of its own name, so that nothing is known of another run. */
async function run(
  places: Places,
  name: string,
  more: Partial<ImportSessionsOptions>,
  by?: URL,
): Promise<Run> {
  const sessions = join(places.root, "sessions");
  const progress: Run["progress"] = [];
  const skipped: Run["skipped"] = [];
  const found: SessionImport[] = [];
  const options = {
    store: fileStore({ sessionDir: sessions }),
    env: { HOME: places.home },
    cacheDir: join(places.root, `cache-${name}`),
    now: () => Date.UTC(2027, 0, 1),
    onProgress: (done: number, total: number) => progress.push([done, total]),
    onSkipped: (path: string, error: unknown) => skipped.push([path, String(error)]),
    ...more,
  };
  for await (const one of importWith(by, options)) found.push(one);
  return { found, progress, skipped, files: places.files() };
}

/** Notes the threads that are started from now on, and those of them that have ended. */
function watchThreads(): { started: number; answers: number; ended: number } {
  const seen = { started: 0, answers: 0, ended: 0 };
  const watch = (worker: Worker) => {
    seen.started++;
    worker.on("message", () => seen.answers++);
    worker.once("exit", () => seen.ended++);
  };
  process.on("worker", watch);
  onTestFinished(() => {
    process.off("worker", watch);
  });
  return seen;
}

test("threads make the same bytes, tell the same in the same order, and end", async () => {
  const places = manySessions();
  places.put("chats/wrong.json", JSON.stringify([{ role: "wizard", content: "x" }]));
  const paths = { paths: [places.home] };
  const alone = await run(places, "alone", { ...paths, threads: 0 });
  expect(alone.found.length).toBeGreaterThan(50);
  expect(alone.skipped).toHaveLength(1);
  expect(alone.found.some(({ issues }) => issues.length > 0)).toBe(true);
  expect([...alone.files.values()].some((file) => file.includes("parentSession"))).toBe(true);
  removeFolder(places.sessions);
  const seen = watchThreads();
  expect(await run(places, "threads", { ...paths, threads: 2 }, program)).toEqual(alone);
  // One for each session, that which failed among them.
  expect(seen).toEqual({ started: 2, answers: 24 + 24 + 1, ended: 2 });
  // What they found is remembered: nothing is read again.
  const again = await run(places, "threads", { ...paths, threads: 2 }, program);
  expect(new Set(again.found.map(({ status }) => status))).toEqual(new Set(["unchanged"]));
  expect(seen.started).toBe(2);
  expect(readdirSync(places.sessions).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("a dry run on threads tells what one without would do", async () => {
  const places = manySessions(6);
  const alone = await run(places, "alone", {});
  places.put(`.claude/projects/-code-project/${idOf(3)}.jsonl`, linesOf([user("only", null, "anew")]));
  const options = { dryRun: true };
  const expected = await run(places, "dry", { ...options, threads: 0 });
  expect(new Set(expected.found.map(({ status }) => status))).toEqual(new Set(["unchanged", "grown"]));
  expect(await run(places, "dry", { ...options, threads: 2 }, program)).toEqual(expected);
  expect(expected.files).toEqual(alone.files);
});

test.each([
  ["is missing", new URL("./nowhere.js", program)],
  ["ends at once", new URL("data:text/javascript,")],
  ["fails", new URL("data:text/javascript,throw new Error('no')")],
])("where the program of the threads %s, all is done without", async (_, wrong) => {
  const places = manySessions(6);
  const alone = await run(places, "alone", { threads: 0 });
  removeFolder(places.sessions);
  expect(await run(places, "threads", { threads: 2 }, wrong)).toEqual(alone);
});

test("few bytes and stores start no threads", async () => {
  const places = manySessions(3);
  const seen = watchThreads();
  await run(places, "few", {}, program);
  const into = { store: memoryStore(), storeName: "memory" };
  expect((await run(places, "store", { ...into, threads: 2 }, program)).found.length).toBeGreaterThan(3);
  expect(seen.started).toBe(0);
});

test("an import on threads that is ended throws; what is done stays, and is known", async () => {
  const places = manySessions();
  const seen = watchThreads();
  const controller = new AbortController();
  const onProgress = (done: number) => done === 5 && controller.abort();
  const options = { onProgress, signal: controller.signal, threads: 2 };
  await expect(run(places, "ended", options, program)).rejects.toMatchObject({ code: "ABORTED" });
  expect(seen).toMatchObject({ started: 2, ended: 2 });
  const left = places.files();
  expect(left.size).toBeGreaterThanOrEqual(5);
  expect([...left].filter(([name, file]) => name.endsWith(".tmp") || !file.endsWith("\n"))).toEqual([]);
  const next = await run(places, "ended", { threads: 0 });
  expect(next.found.filter(({ status }) => status === "unchanged")).toHaveLength(left.size);
});

test("whoever stops asking ends the threads", async () => {
  const places = manySessions(6);
  const seen = watchThreads();
  const store = fileStore({ sessionDir: places.sessions });
  const options = { store, env: { HOME: places.home }, cacheDir: places.cacheDir, threads: 2 };
  for await (const _ of importWith(program, options)) break;
  expect(seen).toMatchObject({ started: 2, ended: 2 });
});

test("no more threads are started than there are sessions, or than make sense", async () => {
  for (const [count, started] of [
    [1, 2],
    [20, 16],
  ] as const) {
    const seen = watchThreads();
    await run(manySessions(count), "many", { threads: Number.POSITIVE_INFINITY }, program);
    expect(seen).toMatchObject({ started, ended: started });
  }
});

test("threads that are no number are refused", async () => {
  const places = manySessions(1);
  // @ts-expect-error A program without types may hand this in.
  await expect(run(places, "wrong", { threads: "two" })).rejects.toThrow(TypeError);
});

test.skipIf(!isDist)("the package has the program of its threads (skipped but on the build)", async () => {
  const places = manySessions(6);
  const seen = watchThreads();
  const store = publicFileStore({ sessionDir: places.sessions });
  const options = { store, env: { HOME: places.home }, cacheDir: places.cacheDir, threads: 2 };
  const found: string[] = [];
  for await (const { status } of importPublicly(options)) found.push(status);
  expect(new Set(found)).toEqual(new Set(["new"]));
  expect(seen).toEqual({ started: 2, answers: 12, ended: 2 });
});
