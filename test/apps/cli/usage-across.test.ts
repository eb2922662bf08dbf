import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../../../src/apps/cli/run.ts";
import { SUBAGENT_CUSTOM_TYPE } from "../../../src/core/format/import-origin.ts";
import { Chain, header, put } from "../../catalog/support/sessions.ts";
import { cli, jsonLines, NOW_MS, TERMINAL, temporaryFolder, widest } from "./support/cli.ts";
import { TestDatabase, URL_OF_STORE } from "./support/stores.ts";

const DAY_MS = 24 * 3600 * 1000;
const FEBRUARY_MS = Date.parse("2026-02-09T10:00:00Z");

function usage(input: number, cost?: number) {
  return {
    input,
    output: 1,
    cacheRead: 2,
    cacheWrite: 0,
    totalTokens: input + 3,
    ...(cost !== undefined && { cost: { total: cost } }),
  };
}

/** Two sessions, one with a subagent. */
function makeWorld() {
  const folder = temporaryFolder();
  const main = new Chain(header({ id: "main", cwd: "/till" })).user("Count the till");
  main.assistant("a", { usage: usage(1000, 1.5), timestamp: FEBRUARY_MS });
  const sub = new Chain(header({ id: "sub", cwd: "/till", parentSession: "main" }), 20);
  sub.add("custom", { customType: SUBAGENT_CUSTOM_TYPE, data: {} }).user("Count coins");
  sub.assistant("b", { usage: usage(500), timestamp: FEBRUARY_MS + DAY_MS, model: "n" });
  const other = new Chain(header({ id: "other", cwd: "/shop" }), 40).user("Close the shop");
  other.assistant("c", { usage: usage(2000), timestamp: FEBRUARY_MS - 40 * DAY_MS });
  for (const [name, chain] of Object.entries({ main, sub, other }))
    put(join(folder, `${name}.jsonl`), chain.text);
  const prices = join(folder, "prices.json");
  writeFileSync(prices, JSON.stringify({ "p/n*": { input: 2, output: 4 }, x: { input: 1 } }));
  return {
    folder,
    prices,
    stats: (...args: string[]) => cli(["stats", "--dir", folder, ...args], { cwd: "/till" }),
  };
}

/** Explanation of the number of sessions. */
const COUNTED =
  'Only sessions with recorded calls are counted, including those of subagents; "list" shows all sessions.';

const NO_PRICES = ["--prices"];

describe("stats across sessions", () => {
  test("prints an object for each group", async () => {
    const { stats, prices } = makeWorld();
    const found = jsonLines(await stats(...NO_PRICES, prices, "--by", "month,model", "--json"));
    expect(found).toEqual([
      expect.objectContaining({
        by: { month: "2025-12", model: "p/m" },
        cost: null,
        estimated: null,
        unpriced: 2003,
      }),
      {
        by: { month: "2026-02", model: "p/m" },
        sessions: 1,
        calls: 1,
        input: 1000,
        output: 1,
        cacheRead: 2,
        cacheWrite: 0,
        total: 1003,
        cost: 1.5,
        estimated: null,
        unpriced: 0,
      },
      expect.objectContaining({
        by: { month: "2026-02", model: "p/n" },
        cost: null,
        estimated: 0.001008,
        unpriced: 0,
      }),
    ]);
  });

  test("names a session as lists do, and shows a subagent's parent", async () => {
    const { stats, prices, folder } = makeWorld();
    const found = jsonLines(await stats(...NO_PRICES, prices, "--by", "session", "--sort", "cost", "--json"));
    const path = join(folder, "main.jsonl");
    expect(found).toMatchObject([
      { by: { session: { id: "main", path, firstMessage: "Count the till" } }, sessions: 2, input: 1500 },
      { by: { session: { id: "sub" } }, subagentOf: { id: "main", path }, sessions: 1, input: 500 },
      { by: { session: { id: "other" } }, input: 2000 },
    ]);
  });

  test("sorts, and limits without losing the total", async () => {
    const { folder, prices } = makeWorld();
    const line = [
      "stats",
      "--dir",
      folder,
      "--prices",
      prices,
      "--by",
      "session",
      "--sort",
      "input",
      "--limit",
      "1",
    ];
    const result = await cli(line, TERMINAL);
    expect(result.stderr).toBe(
      `1 more group; the total includes all groups.\n${COUNTED}\n2,003 tokens without a known price; --prices FILE estimates them.\n`,
    );
    expect(result.stdout).toMatch(/^other\s+Close the/m);
    expect(result.stdout).not.toContain("Count the till");
    expect(result.stdout).toMatch(/^total .* 3,506 /m);
    expect(widest(result)).toBeLessThanOrEqual(80);
  });

  test("a subagent is indented below its session, with a bar for the largest value", async () => {
    const { folder, prices } = makeWorld();
    const result = await cli(["stats", "--dir", folder, "--prices", prices, "--by", "session"], {
      ...TERMINAL,
      columns: 120,
    });
    const [, first = "", second = ""] = result.lines;
    expect(first).toMatch(/^main {6}Count the till .* ~\$1\.50 {2}█+$/);
    expect(second).toMatch(/^ {2}sub {7}Count coins .* ~\$0\.0010$/);
    expect(result.stdout).not.toContain("$0.00 ");
  });

  test("one session and the list state what includes subagents, with the same cost", async () => {
    const { folder, prices } = makeWorld();
    const single = async (name: string, ...more: string[]) =>
      (await cli(["stats", join(folder, `${name}.jsonl`), "--prices", prices, ...more])).stdout;
    const main = await single("main");
    expect(main).toMatch(/^subagents +1 session, not counted below; with subagents, as in lists: ~\$1\.50$/m);
    expect(main).toMatch(/^p\/m .* \$1\.50$/m);
    for (const other of [await single("sub"), await single("other"), await single("main", "--leaf", "@leaf")])
      expect(other).not.toContain("subagents");
    const list = (...more: string[]) => cli(["list", "--dir", folder, "--pretty", ...more], { columns: 120 });
    const includes = "The cost of a session includes its subagents, which are also listed.";
    expect((await list()).stderr).toContain(includes);
    expect((await list("other")).stderr).not.toContain(includes);
  });

  test("one session shows the progress of reading the others", async () => {
    const { folder } = makeWorld();
    const errors: string[] = [];
    let nowMs = NOW_MS;
    const code = await run(["stats", join(folder, "main.jsonl")], {
      stdout: { write: () => undefined, isTTY: true, columns: 80 },
      stderr: { write: (text) => errors.push(text), isTTY: true, columns: 80 },
      env: { NO_COLOR: "1" },
      cwd: folder,
      now: () => (nowMs += 1000),
      stores: new TestDatabase(),
    });
    expect([code, errors.join("")]).toEqual([0, expect.stringMatching(/^\rReading sessions /)]);
  });

  test("limits the time by a month, a day, a moment, or an age", async () => {
    const { stats, prices } = makeWorld();
    const inputs = async (...args: string[]) => {
      const result = await stats(...NO_PRICES, prices, "--by", "day", "--json", ...args);
      return jsonLines(result).map((one) => Object(one).input);
    };
    expect(await inputs("--since", "2026-02")).toEqual([1000, 500]);
    expect(await inputs("--until", "2025-12")).toEqual([2000]);
    expect(await inputs("--since", "2026-02-10")).toEqual([500]);
    expect(await inputs("--until", "2026-02-09")).toEqual([2000, 1000]);
    expect(await inputs("--since", "2026-02-09T12:00", "--utc")).toEqual([500]);
    expect(await inputs("--since", "7d")).toEqual([1000, 500]);
    for (const wrong of ["someday", "2026-13", "2026-02-30"]) {
      expect(await stats("--since", wrong)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(wrong),
      });
    }
  });

  test("accepts a project", async () => {
    const { folder, prices } = makeWorld();
    const env = { PI_CODING_AGENT_SESSION_DIR: folder };
    const sessions = async (...args: string[]) => {
      const line = ["stats", "--by", "project", "--prices", prices, "--json", ...args];
      return jsonLines(await cli(line, { cwd: "/till", env })).map((one) => Object(one).by.project);
    };
    expect(await sessions()).toEqual(["/till"]);
    expect(await sessions("--project")).toEqual(["/till"]);
    expect(await sessions("--project", "/shop")).toEqual(["/shop"]);
    expect(await sessions("--all")).toEqual(["/till", "/shop"]);
    expect((await cli(["stats", "--all", "--project"], { env })).code).toBe(2);
  });

  test("keeps the distinguishing ends of projects' folders", async () => {
    const folder = temporaryFolder();
    for (const [i, name] of ["till", "shop"].entries()) {
      const chain = new Chain(header({ id: name, cwd: `/home/ada/code/company/${name}` }), 20 * i).user(
        "Hello",
      );
      put(join(folder, `${name}.jsonl`), chain.assistant("a", { usage: usage(1000, 1.5) }).text);
    }
    const result = await cli(["stats", "--dir", folder, "--by", "project"], { ...TERMINAL, columns: 40 });
    expect(result.stdout).toMatch(/^…\S*\/till /m);
    expect(result.stdout).toMatch(/^…\S*\/shop /m);
    expect(widest(result)).toBeLessThanOrEqual(40);
  });

  test("reports damage, and models without a price", async () => {
    const { folder, stats } = makeWorld();
    const path = join(folder, "other.jsonl");
    writeFileSync(path, `${readFileSync(path, "utf8")}garbage\n`);
    const { stderr } = await stats("--by", "month");
    expect(stderr).toContain('1 damaged file; "sessiontree verify --all" lists them.');
    const verified = await cli(["verify", "--all", "--dir", folder]);
    expect(verified).toMatchObject({ code: 1, stdout: expect.stringContaining(path) });
    expect(verified.stdout).not.toContain("main.jsonl");
    // A file without its header is not listed anywhere else.
    writeFileSync(join(folder, "headless.jsonl"), readFileSync(path, "utf8").split("\n").slice(1).join("\n"));
    const { stdout } = await cli(["verify", "--all", "--dir", folder]);
    expect(stdout).toMatch(/NOT_A_SESSION .*headless\.jsonl/);
  });

  test("rejects a session, and invalid prices", async () => {
    const { folder, stats } = makeWorld();
    expect((await stats("session.jsonl", "--by", "day")).code).toBe(2);
    expect((await stats("--prices", join(folder, "nothing.json"))).code).toBe(2);
    const wrong = join(folder, "wrong.json");
    for (const text of ["[]", '{"m": 3}', '{"m": {"input": "3"}}', '{"m": {"in": 3}}']) {
      writeFileSync(wrong, text);
      expect(await stats("--prices", wrong), text).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("has no prices"),
      });
    }
  });

  test("a call with tokens missing from the price file has no price", async () => {
    const { folder, stats } = makeWorld();
    const path = join(folder, "some.json");
    const found = async (price: object) => {
      writeFileSync(path, JSON.stringify({ "p/n": price }));
      const [first] = jsonLines(await stats("--prices", path, "--since", "2026-02-10", "--json"));
      const { estimated, unpriced } = Object(first);
      return [estimated, unpriced];
    };
    expect(await found({})).toEqual([null, 503]);
    expect(await found({ output: 4 })).toEqual([null, 503]);
    expect(await found({ input: 2 })).toEqual([null, 503]);
    expect(await found({ input: 0, output: 0 })).toEqual([0, 0]);
  });

  test.each(["__proto__", "constructor", "m".repeat(10_000), "a\u001b[2J\u0007\nb\u202ec"])(
    "adds up a model with a hostile name (%#), and harms neither table nor terminal",
    async (model) => {
      const folder = temporaryFolder();
      const chain = new Chain(header({ id: "one" })).user("Hi");
      chain.assistant("a", { provider: model, model, usage: usage(5), timestamp: FEBRUARY_MS });
      put(join(folder, "one.jsonl"), chain.text);
      const prices = put(join(folder, "prices.json"), '{"__proto__": {"input": 1, "output": 1}}');
      const args = ["stats", "--dir", folder, "--all", "--prices", prices, "--by", "model,day,session"];
      const [found] = jsonLines(await cli([...args, "--json"]));
      expect(found).toMatchObject({ calls: 1, input: 5, by: { session: { id: "one" } } });
      expect(Object(found).estimated).toBe(model === "__proto__" ? 8 / 1_000_000 : null);
      for (const columns of [40, 80, 200]) {
        const result = await cli(args, { ...TERMINAL, columns });
        expect(widest(result)).toBeLessThanOrEqual(columns);
        expect(result.stdout).toMatch(/^total /m);
        for (const harmful of ["\u0007", "\u001b[2J", "\u202e"]) expect(result.stdout).not.toContain(harmful);
      }
      expect((await cli(args, { ...TERMINAL, columns: 200 })).stdout).toContain("2026-02-09");
      const single = await cli(["stats", join(folder, "one.jsonl")], TERMINAL);
      expect(widest(single)).toBeLessThanOrEqual(80);
    },
  );

  test("a session damaged in the middle counts before and after the damage, which text and JSON report", async () => {
    const { folder, stats } = makeWorld();
    const chain = new Chain(header({ id: "torn", cwd: "/till" }), 60).user("Hi");
    chain.assistant("a", { usage: usage(7), timestamp: FEBRUARY_MS });
    chain.assistant("b", { usage: usage(8), timestamp: FEBRUARY_MS + 1 });
    chain.assistant("c", { usage: usage(9), timestamp: FEBRUARY_MS + 2 });
    const lines = chain.text.split("\n");
    lines[3] = lines[3]?.slice(0, 40) ?? "";
    put(join(folder, "torn.jsonl"), lines.join("\n"));
    const line = ["--by", "session", "--prices", join(folder, "prices.json")];
    const json = await stats(...line, "--json");
    const torn = jsonLines(json).find((one) => Object(one).by.session.id === "torn");
    expect(torn).toMatchObject({ calls: 2, input: 16 });
    for (const { stderr, code } of [json, await stats(...line)]) {
      expect(stderr).toContain("1 damaged file");
      expect(code).toBe(0);
    }
  });

  test("reports that nothing is recorded", async () => {
    expect(await cli(["stats", "--dir", temporaryFolder(), "--all"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "No usage is recorded.\n",
    });
  });

  test("uses installed prices if no file is given", async () => {
    const folder = temporaryFolder();
    const chain = new Chain(header({ id: "one" }));
    chain.assistant("a", {
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      usage: { input: 1_000_000, output: 0, totalTokens: 1_000_000 },
    });
    chain.assistant("b", {
      provider: "nobody",
      model: "nothing-1",
      usage: { input: 5, output: 0, totalTokens: 5 },
    });
    put(join(folder, "one.jsonl"), chain.text);
    const [found] = jsonLines(await cli(["stats", "--dir", folder, "--all", "--json"]));
    expect(found).toMatchObject({ cost: null, estimated: expect.any(Number), unpriced: 5 });
    expect(Object(found).estimated).toBeGreaterThan(1);
  });

  test("counts the sessions of a database", async () => {
    const { folder, prices } = makeWorld();
    const stores = new TestDatabase();
    for (const name of ["main", "sub"]) {
      const line = ["db", "copy", join(folder, `${name}.jsonl`), "--to", URL_OF_STORE];
      expect(await cli(line, { stores })).toMatchObject({ code: 0 });
    }
    const line = ["stats", "--store", URL_OF_STORE, "--all", "--by", "session", "--prices", prices, "--json"];
    expect(jsonLines(await cli(line, { stores }))).toMatchObject([
      { by: { session: { id: "main" } }, calls: 2, cost: 1.5, estimated: 0.001008 },
      { by: { session: { id: "sub" } }, subagentOf: { id: "main" }, calls: 1 },
    ]);
  });
});
