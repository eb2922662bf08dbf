import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager, type Usage } from "sessiontree";
import { describe, expect, test } from "vitest";
import { UsageTally } from "../../../src/core/facts/usage-tally.ts";
import { assistant, call, tokens, toolResult, usage, user } from "../../support/messages.ts";
import { pathsLookedAtOnWindows, REMOTE_PATHS } from "../../support/paths-looked-at.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { stage, talk } from "./support/stage.ts";

function spent(input: number, output: number, cacheRead: number, cacheWrite: number, total: number): Usage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total };
  return { input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite, cost };
}

const nothing = new UsageTally().total;

describe("getStats", () => {
  test("returns the session's identity and age", () => {
    let now = Date.UTC(2026, 0, 1);
    const folder = temporaryFolder();
    const session = SessionManager.create(folder, { sessionDir: folder, now: () => now }, { id: "mine" });
    const { controller } = stage({ session, now: () => now });
    session.appendSessionInfo("My session");
    now += 5000;
    expect(controller.getStats()).toMatchObject({
      sessionFile: session.getSessionFile(),
      sessionId: "mine",
      sessionName: "My session",
      cwd: folder,
      parentSession: undefined,
      createdAt: new Date(Date.UTC(2026, 0, 1)),
      ageMs: 5000,
      entries: 1,
    });
  });

  test("of an empty session is all zeros", () => {
    const { controller } = stage();
    expect(controller.getStats()).toMatchObject({
      sessionFile: undefined,
      sessionName: undefined,
      entries: 0,
      messages: { total: 0, byRole: {} },
      toolCalls: { total: 0, failed: 0, byName: {} },
      usage: nothing,
      byModel: [],
      cacheHitRate: null,
      inherited: { entries: 0, usage: nothing },
      context: { tokens: 0, contextWindow: null, percent: null },
    });
  });

  test("counts messages by role and calls by tool, on all branches", () => {
    const { session, controller } = stage();
    const [first = ""] = talk(session, 1);
    session.appendMessage(assistant("", {}, call("c1", "read"), call("c2", "bash")));
    session.appendMessage(toolResult("c1", "x"));
    session.appendMessage(toolResult("c2", "x", true));
    session.appendCustomMessageEntry("note", "x", true);
    session.branch(first);
    session.appendMessage(assistant("", {}, call("c3", "__proto__")));
    session.appendLabelChange(first, "a label is no message");
    const { messages, toolCalls, entries } = controller.getStats();
    expect(messages).toEqual({ total: 7, byRole: { user: 1, assistant: 3, toolResult: 2, custom: 1 } });
    expect(toolCalls.total).toBe(3);
    expect(toolCalls.failed).toBe(1);
    expect(Object.entries(toolCalls.byName)).toEqual([
      ["read", 1],
      ["bash", 1],
      ["__proto__", 1],
    ]);
    expect(entries).toBe(8);
  });

  test("adds up tokens and cost in total and by model, at any position", () => {
    const { session, controller } = stage();
    session.appendMessage(user("a"));
    const reasoned = { ...spent(100, 10, 300, 0, 1), reasoning: 4 };
    session.appendMessage(assistant("b", { usage: reasoned }));
    session.appendMessage({ ...toolResult("c1", "x"), usage: spent(1, 1, 0, 0, 0.25) });
    session.appendMessage(assistant("c", { usage: spent(100, 20, 0, 100, 2), model: "m2" }));
    session.appendUsage("title", "acme", "m1", spent(5, 5, 0, 0, 0.5));
    session.appendCompaction("s", null, 10, undefined, false, spent(2, 2, 0, 0, 0.25));
    session.branchWithSummary(null, "s", undefined, false, spent(3, 3, 0, 0, 0.5));
    const { usage: total, byModel, cacheHitRate } = controller.getStats();
    expect(total).toEqual({
      count: 6,
      input: 211,
      output: 41,
      cacheRead: 300,
      cacheWrite: 100,
      reasoning: 4,
      totalTokens: 652,
      cost: 4.5,
    });
    expect(byModel).toMatchObject([
      { provider: "acme", model: "m2", count: 3, input: 105, cost: 2.75 },
      { provider: "acme", model: "m1", count: 2, input: 105, cost: 1.5 },
      { provider: null, model: null, count: 1, totalTokens: 2, cost: 0.25 },
    ]);
    expect(cacheHitRate).toBeCloseTo(300 / 611);
  });

  test("accepts usage in the form of other programs", () => {
    const odd = (fields: object) => JSON.parse(JSON.stringify(assistant("x", fields)));
    const messages = [
      odd({ usage: { input: 1, output: 2 }, provider: undefined, model: undefined }),
      odd({ usage: { prompt_tokens: 9, cost: { input: 1, output: 2 } } }),
      { ...odd({}), usage: null },
      { ...odd({}), content: "text", usage: { input: "many", totalTokens: Number.NaN } },
    ];
    const timestamp = "2026-01-01T00:00:00.000Z";
    const entries = messages.map((message, i) => {
      return { type: "message" as const, id: `e${i}`, parentId: null, timestamp, message };
    });
    const { controller } = stage({ session: SessionManager.inMemory("/work", {}, entries) });
    expect(controller.getStats().usage).toEqual({
      ...nothing,
      count: 1,
      input: 1,
      output: 2,
      totalTokens: 3,
      cost: 3,
    });
    expect(controller.getStats().byModel).toMatchObject([
      { provider: "acme", model: "m1", count: 0, cost: 3 },
      { provider: null, model: null, count: 1 },
    ]);
  });
});

describe("context use", () => {
  test("is the model's count, and an estimate of later messages", () => {
    const { session, controller } = stage();
    session.appendMessage(user("a"));
    session.appendMessage(assistant("b", { usage: usage(900) }));
    session.appendMessage(user(tokens(100)));
    expect(controller.getStats({ contextWindow: 4000 }).context).toEqual({
      tokens: 1000,
      contextWindow: 4000,
      percent: 25,
    });
  });

  test("is an estimate if no model has reported usage", () => {
    const { session, controller } = stage();
    talk(session, 1);
    expect(controller.getStats().context.tokens).toBe(80);
  });

  test("is unknown after a compaction until the next usage", async () => {
    const { session, controller } = stage();
    session.appendMessage(assistant("before", { usage: usage(5000) }));
    talk(session, 3);
    await controller.compact();
    const unknown = { tokens: null, contextWindow: 1000, percent: null };
    expect(controller.getStats({ contextWindow: 1000 }).context).toEqual(unknown);
    session.appendMessage(user("next"));
    session.appendMessage(assistant("failed", { usage: usage(1), stopReason: "error" }));
    expect(controller.getStats({ contextWindow: 1000 }).context).toEqual(unknown);
    session.appendMessage(assistant("well", { usage: usage(200) }));
    expect(controller.getStats({ contextWindow: 1000 }).context).toMatchObject({ tokens: 200, percent: 20 });
  });

  test("is estimated again after a context edit", () => {
    const { session, controller } = stage();
    const big = session.appendMessage(user(tokens(1000)));
    session.appendMessage(assistant(tokens(10), { usage: usage(5000) }));
    session.appendContextEdit(big, null);
    expect(controller.getStats().context.tokens).toBe(10);
  });
});

describe("a fork", () => {
  /** Creates a session in a file with one turn that cost a dollar. */
  function parent(now = () => Date.UTC(2026, 0, 1)) {
    const cwd = temporaryFolder();
    const session = SessionManager.create(cwd, { sessionDir: join(cwd, "sessions"), now });
    session.appendMessage(user("a"));
    session.appendMessage(assistant("b", { usage: usage(10, 1) }, call("c1")));
    return { ...stage({ session }), file: session.getSessionFile() ?? "" };
  }

  /** Appends usage of the fork itself. */
  function spendHere(session: SessionManager): void {
    session.appendMessage(assistant("c", { usage: usage(10, 0.5) }));
  }

  test("does not count its parent's usage, even within the same millisecond", async () => {
    const { controller, file } = parent();
    await controller.clone();
    spendHere(controller.session);
    expect(controller.getStats()).toMatchObject({
      parentSession: file,
      entries: 1,
      messages: { total: 1, byRole: { assistant: 1 } },
      toolCalls: { total: 0 },
      usage: { cost: 0.5, count: 1 },
      byModel: [{ cost: 0.5 }],
      inherited: { entries: 2, usage: { cost: 1, count: 1 } },
    });
  });

  test("counts it on request", async () => {
    const { controller } = parent();
    await controller.clone();
    spendHere(controller.session);
    expect(controller.getStats({ includeInherited: true })).toMatchObject({
      entries: 3,
      messages: { total: 3, byRole: { assistant: 2, user: 1 } },
      toolCalls: { total: 1, byName: { bash: 1 } },
      usage: { cost: 1.5, count: 2 },
      byModel: [{ cost: 1.5, count: 2 }],
      inherited: { entries: 2, usage: { cost: 1 } },
    });
  });

  test("of a fork inherits from both", async () => {
    const { controller } = parent();
    await controller.clone();
    spendHere(controller.session);
    await controller.clone();
    spendHere(controller.session);
    expect(controller.getStats()).toMatchObject({
      usage: { cost: 0.5 },
      inherited: { usage: { cost: 1.5 } },
    });
  });

  test("owns an entry that happens to have the id of one of its parent's", async () => {
    const { session, controller } = parent();
    await controller.clone();
    const late = session.getHeader()?.timestamp.replace("00:00:00", "00:00:01");
    const [first] = session.getPathIds();
    const header = { ...controller.session.getHeader(), type: "session" as const, id: "fork" };
    const entry = { type: "message", id: first, parentId: null, timestamp: late, message: assistant("x") };
    const file = join(temporaryFolder(), "fork.jsonl");
    writeFileSync(file, `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`);
    await controller.switchSession(file, { cwd: temporaryFolder() });
    expect(controller.getStats()).toMatchObject({ entries: 1, inherited: { entries: 0 } });
  });

  test("uses the time of its header if the parent does not exist", async () => {
    let now = Date.UTC(2026, 0, 1);
    const { controller, file } = parent(() => now++);
    await controller.clone();
    spendHere(controller.session);
    rmSync(file);
    expect(controller.getStats()).toMatchObject({
      usage: { cost: 0.5 },
      inherited: { entries: 2, usage: { cost: 1 } },
    });
  });

  const forkNaming = (parentSession: string) => {
    const header = { type: "session", version: 3, id: "fork", timestamp: "2026-01-01T00:00:09.000Z" };
    const file = join(temporaryFolder(), "fork.jsonl");
    const timestamp = "2026-01-01T00:00:01.000Z";
    const entry = { type: "message", id: "00000001", parentId: null, timestamp, message: user("a") };
    const lines = [{ ...header, cwd: "/p", parentSession }, entry];
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return file;
  };

  test("does not connect to another machine for a parent there", async () => {
    const files = REMOTE_PATHS.map(forkNaming);
    const inherited: number[] = [];
    const looks = await pathsLookedAtOnWindows(() => {
      for (const file of files) {
        const session = SessionManager.open(file, { mode: "read-only" });
        inherited.push(stage({ session }).controller.getStats().inherited.entries);
      }
    });
    expect(inherited).toEqual(files.map(() => 1));
    expect(looks).toEqual(expect.arrayContaining(files));
    expect(looks.filter((path) => path.includes("elsewhere"))).toEqual([]);
  });

  test.each(["a\0b", "file:///%00", "x".repeat(5000), tmpdir()])(
    "uses the time of its header if its parent is %j",
    (name) => {
      const session = SessionManager.open(forkNaming(name), { mode: "read-only" });
      expect(stage({ session }).controller.getStats().inherited.entries).toBe(1);
    },
  );

  describe("handles version 1, which holds no ids", () => {
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
    const compaction = { type: "compaction", summary: "s", tokensBefore: 9, firstKeptEntryIndex: 1 };
    const copied = [
      { type: "message", timestamp: at(1), message: user("a") },
      { type: "message", timestamp: at(2), message: assistant("b", { usage: usage(10, 1) }) },
      { ...compaction, timestamp: at(3) },
    ];
    const own = { type: "message", timestamp: at(9), message: assistant("c", { usage: usage(10, 0.5) }) };
    const further = { type: "message", timestamp: at(4), message: assistant("d", { usage: usage(10, 4) }) };

    function forkOf(...parentsOwn: object[]): { parent: string; fork: string } {
      const folder = temporaryFolder();
      const [parent, fork] = [join(folder, "parent.jsonl"), join(folder, "fork.jsonl")];
      const write = (path: string, id: string, entries: object[], more = {}) => {
        const header = { type: "session", id, timestamp: at(0), cwd: folder, ...more };
        writeFileSync(path, [header, ...entries].map((record) => `${JSON.stringify(record)}\n`).join(""));
      };
      write(parent, "parent", [...copied, ...parentsOwn]);
      write(fork, "fork", [...copied, own], { timestamp: at(8), branchedFrom: parent });
      return { parent, fork };
    }

    const statsOf = (path: string) => stage({ session: SessionManager.open(path) }).controller.getStats();

    test("inherits the common beginning, whichever of the two was upgraded since", () => {
      const expected = { entries: 1, usage: { cost: 0.5 }, inherited: { entries: 3, usage: { cost: 1 } } };
      const { fork, parent } = forkOf(further);
      expect(statsOf(fork)).toMatchObject(expected);
      SessionManager.open(parent).upgrade();
      expect(statsOf(fork)).toMatchObject(expected);
      SessionManager.open(fork).upgrade();
      expect(statsOf(fork)).toMatchObject(expected);
    });

    test("owns entries that its parent lacks, even if written at the same time", () => {
      const { fork, parent } = forkOf({ ...further, timestamp: at(9) });
      const text = readFileSync(parent, "utf8");
      writeFileSync(parent, text.replace('"content":"a"', '"content":"A"'));
      expect(statsOf(fork)).toMatchObject({ entries: 4, inherited: { entries: 0 } });
    });
  });

  test("in memory remembers its inherited entries", async () => {
    const { session, controller } = stage();
    session.appendMessage(assistant("b", { usage: usage(10, 1) }));
    await controller.clone();
    spendHere(controller.session);
    expect(controller.getStats()).toMatchObject({
      usage: { cost: 0.5 },
      inherited: { entries: 1, usage: { cost: 1 } },
    });
  });

  test("in memory does not count its first handler's entries as inherited", async () => {
    const { controller } = stage();
    controller.session.appendMessage(user("a"));
    controller.hooks.on("session_start", () => {
      controller.session.appendCustomEntry("state");
    });
    await controller.clone();
    expect(controller.getStats()).toMatchObject({ entries: 1, inherited: { entries: 1 } });
  });
});
