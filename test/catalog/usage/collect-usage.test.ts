import nodeFs, {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { CatalogCache } from "../../../src/catalog/list/catalog-cache.ts";
import { listSessions } from "../../../src/catalog/list/list-sessions.ts";
import { collectUsage, type UsageOptions } from "../../../src/catalog/usage/collect-usage.ts";
import type { UsageGroup } from "../../../src/catalog/usage/usage-groups.ts";
import { IMPORT_CUSTOM_TYPE, SUBAGENT_CUSTOM_TYPE } from "../../../src/core/format/import-origin.ts";
import { listSessionFiles } from "../../../src/session/files/session-files.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { openedFiles, overwrite } from "../../support/opened-files.ts";
import { pathsLookedAtOnWindows, REMOTE_PATHS } from "../../support/paths-looked-at.ts";
import { IS_WINDOWS, IS_WINE } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Chain, header, joinLines, put, START_MS, touch } from "../support/sessions.ts";

/** Creates a folder with sessions, and collects usage there with a separate cache. */
function makeWorld() {
  const root = temporaryFolder();
  const folder = join(root, "sessions");
  const scope = { sessionDir: folder, cacheDir: join(root, "cache") };
  mkdirSync(folder);
  return {
    folder,
    scope,
    write: (name: string, chain: Chain) => put(join(folder, `${name}.jsonl`), chain.text),
    collect: (options: UsageOptions = {}) => collectUsage({ ...scope, ...options }),
  };
}

/** Returns a usage of a number of tokens, without a stated cost unless one is given. */
function usage(input: number, output = 0, cost?: number) {
  return {
    input,
    output,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: input + output,
    ...(cost !== undefined && { cost: { total: cost } }),
  };
}

function session(id: string, fields: object = {}): Chain {
  return new Chain(header({ id, ...fields }));
}

const idsOf = (groups: readonly UsageGroup[]) => groups.map(({ by }) => by.session?.id);

test("counts answers, tool results, summaries, and other calls by the model that each names or that answers", async () => {
  const { write, collect } = makeWorld();
  const chain = session("one")
    .user("Go")
    .assistant("Yes", { usage: usage(10, 5, 0.5) });
  chain.assistant("No", { provider: "q", model: "n", usage: usage(20) });
  chain.message({
    role: "toolResult",
    toolCallId: "c",
    toolName: "t",
    content: [],
    isError: false,
    usage: usage(3),
    timestamp: 1,
  });
  chain.add("usage", { kind: "title", provider: "p", model: "small", usage: usage(4) });
  chain.add("compaction", { summary: "s", firstKeptEntryId: Chain.id(1), tokensBefore: 1, usage: usage(7) });
  write("one", chain);
  const { groups, total } = await collect({ by: ["model"] });
  expect(
    groups.map(({ by, calls, input, cost, unpriced }) => [by.model, calls, input, cost, unpriced]),
  ).toEqual([
    ["p/m", 1, 10, 0.5, 0],
    ["q/n", 2, 27, null, 27],
    ["p/small", 1, 4, null, 4],
    [null, 1, 3, null, 3],
  ]);
  expect(total).toEqual({
    by: {},
    sessions: 1,
    calls: 5,
    input: 44,
    output: 5,
    cacheRead: 0,
    cacheWrite: 0,
    total: 49,
    cost: 0.5,
    estimated: null,
    unpriced: 34,
  });
});

test("treats a zero cost as free only if the call was billed", async () => {
  const { write, collect } = makeWorld();
  const zeros = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  write("unpriced", session("unpriced").assistant("a", { usage: { ...usage(5), cost: zeros } }));
  expect((await collect()).total).toMatchObject({ cost: null, unpriced: 5 });
  write(
    "free",
    session("free").assistant("b", {
      timestamp: 9,
      usage: { ...usage(7), cost: { ...zeros, totalFromProvider: true } },
    }),
  );
  expect((await collect()).total).toMatchObject({ cost: 0, unpriced: 5 });
});

test("ignores zeros and names that a writer did not have", async () => {
  const { write, collect } = makeWorld();
  const chain = session("one").assistant("failed", { usage: usage(0) });
  chain.assistant("a", { provider: "unknown", model: "unknown", usage: usage(1) });
  chain.assistant("b", { model: "unknown", timestamp: 2, usage: usage(2) });
  write("one", chain);
  write("none", session("none").assistant("c", { timestamp: 3, usage: usage(0) }));
  const { groups, total } = await collect({ by: ["model"] });
  expect(groups.map(({ by, calls }) => [by.model, calls])).toEqual([
    ["p", 1],
    [null, 1],
  ]);
  expect(total).toMatchObject({ sessions: 1, calls: 2 });
});

test("counts a summary as one call even if a fork assigns it to another model", async () => {
  const { folder, write, collect } = makeWorld();
  const chain = session("parent")
    .user("Go")
    .assistant("a", { usage: usage(1) });
  const leaf = chain.lastId;
  chain.assistant("b", { model: "n", usage: usage(2) });
  chain.add("branch_summary", { fromId: chain.lastId, summary: "s", usage: usage(4) }, { parentId: leaf });
  const path = write("parent", chain);
  const [, ask, first, , summary] = chain.records;
  put(
    join(folder, "fork.jsonl"),
    joinLines([header({ id: "fork", parentSession: path }), ask, first, summary]),
  );
  const { groups } = await collect({ by: ["model"] });
  expect(groups.map(({ by, calls, input }) => [by.model, calls, input])).toEqual([
    ["p/n", 2, 6],
    ["p/m", 1, 1],
  ]);
});

test("counts what a fork, its fork, or a copy has inherited once, in the session where it was made", async () => {
  const { folder, write, collect } = makeWorld();
  const path = write(
    "parent",
    session("parent")
      .user("Go")
      .assistant("a", { usage: usage(100) }),
  );
  const fork = SessionManager.forkFrom(path, "/project", folder);
  const answer = (tokens: number) => ({
    role: "assistant" as const,
    content: [],
    api: "a",
    provider: "p",
    model: "m",
    usage: { ...usage(tokens), cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
    stopReason: "stop" as const,
    timestamp: tokens,
  });
  fork.appendMessage(answer(10));
  const second = SessionManager.forkFrom(fork.getSessionFile() ?? "", "/project", folder);
  second.appendMessage(answer(1));
  copyFileSync(path, join(folder, "copy.jsonl"));
  const { groups, total } = await collect({ by: ["session"] });
  expect(total).toMatchObject({ sessions: 3, calls: 3, input: 111 });
  expect(groups.map(({ by, input }) => [by.session?.id, input])).toEqual([
    ["parent", 100],
    [fork.getSessionId(), 10],
    [second.getSessionId(), 1],
  ]);
});

test("subtracts from a fork what it inherited from a session of another project", async () => {
  const { folder, write, collect } = makeWorld();
  const path = write(
    "parent",
    session("parent")
      .user("Go")
      .assistant("a", { usage: usage(100) }),
  );
  const fork = SessionManager.forkFrom(path, "/other", folder);
  expect((await collect({ cwd: "/other", by: ["session"] })).total.calls).toBe(0);
  expect(idsOf((await collect({ cwd: "/project", by: ["session"] })).groups)).toEqual(["parent"]);
  // What only the fork still has counts there.
  writeFileSync(path, joinLines([header({ id: "parent" })]));
  expect(idsOf((await collect({ cwd: "/other", by: ["session"] })).groups)).toEqual([fork.getSessionId()]);
});

test("makes no connection to another machine for a session's parent", async () => {
  const { write, collect } = makeWorld();
  const paths = REMOTE_PATHS.map((parentSession, i) =>
    write(`fork-${i}`, new Chain(header({ id: `fork-${i}`, parentSession }), 10 * i).assistant("a")),
  );
  let calls = 0;
  const looks = await pathsLookedAtOnWindows(async () => {
    calls = (await collect({ by: ["session"] })).total.calls;
  });
  expect(calls).toBe(REMOTE_PATHS.length);
  expect(looks).toEqual(expect.arrayContaining(paths));
  expect(looks.filter((path) => path.includes("elsewhere"))).toEqual([]);
});

test("counts a session that grows during the count as it was when it was opened", async () => {
  const { write, collect } = makeWorld();
  const chain = session("one").assistant("a", { usage: usage(10) });
  const path = write("one", chain);
  const before = chain.text.length;
  const more = chain.assistant("b", { usage: usage(5) }).text.slice(before);
  const read = vi.spyOn(nodeFs, "readSync");
  syncBuiltinESMExports();
  try {
    read.mockImplementationOnce((...input: Parameters<typeof nodeFs.readSync>) => {
      appendFileSync(path, more.slice(0, 40));
      return nodeFs.readSync(...input);
    });
    expect((await collect()).total.input).toBe(10);
  } finally {
    read.mockRestore();
    syncBuiltinESMExports();
  }
  // Half a line is not damage while its writer is active, and never half a call.
  expect((await collect()).total.input).toBe(10);
  appendFileSync(path, more.slice(40));
  expect(await collect()).toMatchObject({ total: { input: 15 }, damaged: [] });
});

test("counts two calls at the same time as two", async () => {
  const { write, collect } = makeWorld();
  write("one", session("one").assistant("a", { timestamp: 1 }).assistant("b", { timestamp: 1 }));
  write("two", new Chain(header({ id: "two" }), 10).assistant("a", { timestamp: 1 }));
  expect((await collect()).total.calls).toBe(3);
});

test("counts a subagent for those that started it, and lists it below them", async () => {
  const { write, collect } = makeWorld();
  write("main", session("main").assistant("a", { usage: usage(1) }));
  const link = { customType: SUBAGENT_CUSTOM_TYPE, data: { agentId: "x" } };
  const child = (id: string, parentSession: string, first: number) =>
    new Chain(header({ id, parentSession }), first).add("custom", link);
  write("sub", child("sub", "main", 10).assistant("b", { usage: usage(20) }));
  write("subsub", child("subsub", "sub", 20).assistant("c", { usage: usage(300), model: "n" }));
  write("other", session("other").assistant("d", { usage: usage(50), timestamp: 5 }));
  const { groups, total } = await collect({ by: ["session"] });
  expect(
    groups.map(({ by, subagentOf, sessions, input }) => [by.session?.id, subagentOf?.id, sessions, input]),
  ).toEqual([
    ["main", undefined, 3, 321],
    ["sub", "main", 2, 320],
    ["subsub", "sub", 1, 300],
    ["other", undefined, 1, 50],
  ]);
  expect(total).toMatchObject({ sessions: 4, calls: 4, input: 371 });
  const both = await collect({ by: ["session", "model"] });
  expect(both.groups.map(({ by, input }) => [by.session?.id, by.model, input])).toEqual([
    ["main", "p/n", 300],
    ["sub", "p/n", 300],
    ["subsub", "p/n", 300],
    ["other", "p/m", 50],
    ["main", "p/m", 21],
    ["sub", "p/m", 20],
  ]);
});

// Windows reads no time zone from a variable.
test.skipIf(IS_WINDOWS)("groups by days, weeks, and months of the user, or of UTC", async () => {
  vi.stubEnv("TZ", "America/New_York");
  try {
    const { write, collect } = makeWorld();
    const at = (time: string) => ({ timestamp: Date.parse(time) });
    write(
      "one",
      session("one").assistant("a", at("2027-01-01T03:00:00Z")).assistant("b", at("2026-11-23T12:00:00Z")),
    );
    const keys = async (options: UsageOptions) =>
      (await collect({ by: ["month", "week", "day"], ...options })).groups.map(({ by }) => [
        by.month,
        by.week,
        by.day,
      ]);
    const november = ["2026-11", "2026-W48", "2026-11-23"];
    expect(await keys({})).toEqual([november, ["2026-12", "2026-W53", "2026-12-31"]]);
    expect(await keys({ utc: true })).toEqual([november, ["2027-01", "2026-W53", "2027-01-01"]]);
    const since = new Date("2026-11-23T12:00:00Z");
    expect(await keys({ since, until: new Date("2026-12-01") })).toEqual([november]);
    expect(await keys({ until: since })).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
  }
});

test("assigns no day to a call without a time, and omits it where times are bounded", async () => {
  const { write, collect } = makeWorld();
  write("one", session("one").add("usage", { kind: "k", usage: usage(3) }, { timestamp: "yesterday" }));
  expect((await collect({ by: ["day"] })).groups.map(({ by }) => by)).toEqual([{ day: null }]);
  expect((await collect({ since: new Date(0) })).total.calls).toBe(0);
});

test("treats an invalid calendar date as no time", async () => {
  const { write, collect } = makeWorld();
  write("one", session("one").assistant("a", { timestamp: 1e20 }));
  const { groups } = await collect({ by: ["day"] });
  // The entry has one.
  expect(groups).toMatchObject([{ by: { day: "2026-01-02" } }]);
});

test("uses the first entries of a session that come between two counts", async () => {
  const { write, collect } = makeWorld();
  const parent = write("main", session("main").assistant("a", { usage: usage(1) }));
  const child = new Chain(header({ id: "sub", parentSession: parent }), 10).user("Go");
  const path = write("sub", child);
  await collect();
  const before = child.text.length;
  child.add("custom", { customType: SUBAGENT_CUSTOM_TYPE, data: {} }).assistant("b", { usage: usage(20) });
  appendFileSync(path, child.text.slice(before));
  const { groups } = await collect({ by: ["session"] });
  expect(groups.map(({ by, subagentOf }) => [by.session?.id, subagentOf?.id])).toEqual([
    ["main", undefined],
    ["sub", "main"],
  ]);
});

test("groups and filters by the program that a session was imported from", async () => {
  const { write, collect } = makeWorld();
  const origin = { customType: IMPORT_CUSTOM_TYPE, data: { source: "codex", sourceId: "s" } };
  const imported = session("imported").add("custom", origin, { timestamp: new Date(START_MS).toISOString() });
  write("imported", imported.assistant("a", { usage: usage(9) }));
  write("own", session("own").assistant("b", { timestamp: 1, usage: usage(8) }));
  const sources = async (source?: string) =>
    (await collect({ by: ["source"], ...(source && { source }) })).groups.map(({ by, input }) => [
      by.source,
      input,
    ]);
  expect(await sources()).toEqual([
    ["codex", 9],
    [null, 8],
  ]);
  expect(await sources("any")).toEqual([["codex", 9]]);
  expect(await sources("claude-code")).toEqual([]);
});

test("estimates calls without a stated cost by prices, separately", async () => {
  const { write, collect } = makeWorld();
  const chain = session("one").assistant("a", { usage: usage(10, 0, 2) });
  write(
    "one",
    chain.assistant("b", { usage: { ...usage(20, 4), cacheWrite1h: 3 } }).assistant("c", { model: "x" }),
  );
  const asked: unknown[] = [];
  const { total } = await collect({
    prices: (provider, model, used, time) => {
      asked.push([provider, model, used, time?.getTime()]);
      return model === "m" ? 0.25 : undefined;
    },
  });
  expect(total).toMatchObject({ cost: 2, estimated: 0.25, unpriced: 3 });
  const used = {
    input: 20,
    output: 4,
    cacheRead: 0,
    cacheWrite: 0,
    cacheWrite1h: 3,
    reasoning: 0,
    totalTokens: 24,
  };
  expect(asked[0]).toEqual(["p", "m", used, START_MS + 2000]);
  expect(asked).toHaveLength(2);
});

test("assigns dollars that a program records apart from tokens to the calls before them, with those of subagents", async () => {
  const { write, collect } = makeWorld();
  const bill = { kind: "cost", provider: "p", model: "m", usage: usage(0, 0, 2) };
  const main = session("main").assistant("a", { usage: usage(10) });
  main.assistant("other model", { model: "n", usage: usage(5) }).add("usage", bill);
  write("main", main.assistant("later", { usage: usage(3) }));
  const sub = new Chain(header({ id: "sub", parentSession: "main" }), 20);
  sub.add("custom", { customType: SUBAGENT_CUSTOM_TYPE, data: {} });
  const answer = (text: string, seconds: number, tokens: number) =>
    sub.assistant(text, { usage: usage(tokens), timestamp: START_MS + seconds * 1000 });
  answer("b", 1, 20);
  answer("after the bill", 60, 7);
  write("sub", sub);
  const { groups, total } = await collect({ by: ["model"], prices: () => 1 });
  expect(groups.map(({ by, cost, estimated, unpriced }) => [by.model, cost, estimated, unpriced])).toEqual([
    ["p/m", 2, 2, 0],
    ["p/n", null, 1, 0],
  ]);
  expect(total).toMatchObject({ calls: 5, input: 45, cost: 2, estimated: 3, unpriced: 0 });
  expect((await collect()).total.unpriced).toBe(15);
});

test.each([
  [
    "throws",
    () => {
      throw new Error("no list");
    },
    /no list/,
  ],
  ["returns NaN", () => Number.NaN, /returns NaN/],
  ["returns less than nothing", () => -1, /returns -1/],
])("throws an error with the model's name if a price function %s", async (_, prices, message) => {
  const { write, collect } = makeWorld();
  write("one", session("one").assistant("a"));
  await expect(collect({ prices })).rejects.toMatchObject({
    code: "PRICE_FAILED",
    message: expect.stringMatching(message),
    details: { model: "m" },
  });
});

test("refuses invalid options", async () => {
  await expect(collectUsage({ by: ["year" as "day"] })).rejects.toThrow(TypeError);
  await expect(collectUsage({ since: new Date(Number.NaN) })).rejects.toThrow(TypeError);
});

test.skipIf(IS_WINE)("reads the cache on a second run, and only new records of a file", async () => {
  const { folder, scope, write, collect } = makeWorld();
  const chain = session("one")
    .user("Go")
    .assistant("a", { usage: usage(10) });
  const path = write("one", chain);
  touch(path, 1);
  await listSessions(scope);
  expect((await collect()).total.input).toBe(10);
  const opened = openedFiles();
  expect((await collect()).total.input).toBe(10);
  expect(opened).not.toContain(path);
  // A number that changes in the cached part shows whether that part is read.
  overwrite(path, '"input":10', '"input":99');
  const before = chain.text.length;
  appendFileSync(path, chain.assistant("b", { usage: usage(5) }).text.slice(before));
  await listSessions(scope);
  expect((await collect()).total.input).toBe(15);
  expect(readdirSync(folder)).toEqual(["one.jsonl"]);
});

test("rereads a cache of another version or a damaged one", async () => {
  const { scope, write, collect } = makeWorld();
  write("one", session("one").assistant("a", { usage: usage(10) }));
  await collect();
  const [name = ""] = readdirSync(scope.cacheDir);
  const cache = join(scope.cacheDir, name);
  const text = readFileSync(cache, "utf8");
  for (const other of [text.replace(/"version":\d+/, '"version":4'), text.slice(0, -9), "{}"]) {
    writeFileSync(cache, other);
    expect((await collect()).total.input).toBe(10);
  }
  expect((await collect({ cache: false })).total.input).toBe(10);
});

test("does not omit a session because the calls in its cache are empty", async () => {
  const { folder, scope, write, collect } = makeWorld();
  write("one", session("one").assistant("a", { usage: usage(10) }));
  await collect();
  const cache = new CatalogCache(scope);
  const files = [...listSessionFiles(folder, () => undefined)];
  for (const file of files) {
    const known = cache.getSummary(file);
    if (known !== undefined) cache.putSummary(file, { ...known, calls: () => Buffer.from("[]\n") });
  }
  await cache.save([folder], files);
  expect((await collect()).total.input).toBe(10);
});

test("rereads only sessions with damaged calls in the cache", async () => {
  const { scope, write, collect } = makeWorld();
  const path = write("one", session("one").assistant("a", { usage: usage(10) }));
  await collect();
  const cache = join(scope.cacheDir, readdirSync(scope.cacheDir)[0] ?? "");
  const whole = readFileSync(cache);
  const changed = Buffer.from(whole);
  changed[whole.length - 1] = (whole.at(-1) ?? 0) ^ 1;
  writeFileSync(cache, changed);
  expect(await listSessions(scope)).toMatchObject([{ path }]);
  expect(readFileSync(cache)).toEqual(changed);
  expect((await collect()).total.input).toBe(10);
  expect(readFileSync(cache)).toEqual(whole);
});

test("counts a damaged session as far as it can be read, and names it", async () => {
  const { write, collect } = makeWorld();
  const path = write(
    "one",
    session("one")
      .user("Go")
      .assistant("a", { usage: usage(10) }),
  );
  appendFileSync(path, '{"type":"message","id":"0000ffff","parentId":null,"timestamp":"2026');
  write("fine", session("fine").assistant("b", { timestamp: 7, usage: usage(1) }));
  const { total, damaged } = await collect();
  expect(total.input).toBe(11);
  expect(damaged).toEqual([path]);
});

test("finds the same calls by reading a file in full as by the scan", async () => {
  const { write, collect } = makeWorld();
  const chain = session("one")
    .user("Go")
    .assistant("a", { usage: usage(10, 1, 0.5) });
  chain.add("usage", { kind: "k", provider: "p", model: "s", usage: usage(4) });
  const path = write("one", chain);
  const scanned = await collect({ by: ["session", "model", "day"], utc: true });
  writeFileSync(
    path,
    `${chain.text}{"type":"custom","customType":"x","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}\n`,
  );
  const read = await collect({ by: ["session", "model", "day"], utc: true });
  const sums = ({ groups }: typeof read) =>
    groups.map(({ by: { session: _, ...by }, ...rest }) => ({ by, ...rest }));
  expect(read.damaged).toEqual([path]);
  expect(sums(read)).toEqual(sums(scanned));
});
