import * as nodeFs from "node:fs";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { deleteSession } from "../../../src/catalog/trash/trash.ts";
import { type ImportSessionsOptions, importSessions } from "../../../src/interop/history/import-sessions.ts";
import { writeSessionLines } from "../../../src/interop/history/sync-plan.ts";
import { importClaudeCode } from "../../../src/interop/import/claude-code/import-claude-code.ts";
import { readSourceText } from "../../../src/interop/import/source-text.ts";
import { joinProjectFolder } from "../../../src/session/log/session-paths.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import { IS_WINDOWS } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { call, joinLines, part, result, SESSION_ID, text, user } from "../import/support/claude-records.ts";
import {
  makeDocument,
  answer as openCodeAnswer,
  call as openCodeCall,
  prompt as openCodePrompt,
} from "../import/support/opencode-records.ts";
import { Places } from "./support/places.ts";
import { syncFile } from "./support/sync-file.ts";
import { CLAUDE_PATH, forget, put, RECORDS, SECRET } from "./support/transcript.ts";

beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

/** Returns the messages on the path to the leaf. */
function saidAt(path: string): string[] {
  const session = SessionManager.open(path, { mode: "read-only" });
  expect(session.issues).toEqual([]);
  return session.buildSessionContext().messages.map((message) => JSON.stringify(message));
}

function entryHolding(session: SessionManager, words: string): string {
  return session.getEntries().find((entry) => JSON.stringify(entry).includes(words))?.id ?? "";
}

describe("content redacted here", () => {
  test.each([[true], [false]])("is not restored when the source grows (cache: %s)", async (isRemembered) => {
    const places = new Places();
    put(places, 4);
    const [one] = await places.import();
    const path = one?.path ?? "";
    const session = SessionManager.open(path);
    session.redactEntry(entryHolding(session, SECRET));
    await session.close();
    for (const count of [4, 5, 6, 6]) {
      put(places, count);
      if (!isRemembered) forget(places);
      const before = readFileSync(path, "utf8");
      const [now] = await places.import();
      const after = readFileSync(path, "utf8");
      expect(after).not.toContain(SECRET);
      expect(now?.status === "unchanged").toBe(after === before);
      expect(after.startsWith(before)).toBe(true);
    }
    // The leaf is the source's, although the redaction record was last in the file.
    expect(saidAt(path).at(-1)).toContain("done");
    expect(saidAt(path)).toHaveLength(6);
    // A new record with the same text is new.
    put(places, 6, [user("q9", "a3", `again ${SECRET}`)]);
    await places.import();
    expect(readFileSync(path, "utf8")).toContain(SECRET);
  });

  test("is not restored after a partial redaction, nor in a store", async () => {
    const places = new Places();
    put(places, 4);
    const [one] = await places.import();
    const path = one?.path ?? "";
    const session = SessionManager.open(path);
    const id = entryHolding(session, SECRET);
    const leafId = session.getLeafId();
    await session.close();
    const head = { type: "custom", id: "0000000a", parentId: leafId, timestamp: new Date(0).toISOString() };
    const record = { ...head, customType: "sessiontree.redaction", data: { targetIds: [id] } };
    writeFileSync(path, `${readFileSync(path, "utf8").replace(SECRET, "[gone]")}${JSON.stringify(record)}\n`);
    put(places);
    await places.import();
    expect(readFileSync(path, "utf8")).not.toContain(SECRET);
    expect(saidAt(path)).toHaveLength(6);

    const store = memoryStore();
    put(places, 4);
    await places.import({ store, storeName: "memory" });
    const stored = await store.open(SESSION_ID);
    stored.redactEntry(entryHolding(stored, SECRET));
    await stored.close();
    put(places);
    forget(places);
    expect(await places.import({ store, storeName: "memory" })).toMatchObject([{ status: "grown" }]);
    const after = await store.open(SESSION_ID);
    expect(JSON.stringify(after.getEntries())).not.toContain(SECRET);
    await store.close();
  });

  test("stays removed when its message grows, whichever of its versions was redacted", async () => {
    const places = new Places();
    const grow = (count: number) =>
      places.put(
        CLAUDE_PATH,
        joinLines([
          user("q", null, "hello"),
          ...["one", "two", "three"]
            .slice(0, count)
            .map((word, at) =>
              part(`a${at}`, at === 0 ? "q" : `a${at - 1}`, "msg_1", text(`${word} ${SECRET}`)),
            ),
        ]),
      );
    for (const versions of [1, 2]) {
      rmSync(places.sessions, { recursive: true, force: true });
      forget(places);
      grow(1);
      const [one] = await places.import();
      const path = one?.path ?? "";
      const session = SessionManager.open(path);
      const mine = session.appendMessage({ role: "user", content: "mine", timestamp: 0 });
      await session.close();
      grow(versions);
      await places.import();
      const again = SessionManager.open(path);
      for (const entry of again.getEntries())
        if (JSON.stringify(entry).includes(SECRET)) again.redactEntry(entry.id);
      again.branch(mine);
      await again.close();
      for (const count of [2, 3]) {
        grow(count);
        await places.import();
        expect(readFileSync(path, "utf8")).not.toContain(SECRET);
      }
    }
  });

  test("is redacted in a session re-imported alongside the existing one", async () => {
    const places = new Places();
    put(places, 4);
    const [one] = await places.import();
    const session = SessionManager.open(one?.path ?? "");
    session.redactEntry(entryHolding(session, SECRET));
    await session.close();
    const [fresh] = await places.import({ fresh: true });
    expect(fresh).toMatchObject({ status: "new", id: `${SESSION_ID}.m4` });
    expect(readFileSync(fresh?.path ?? "", "utf8")).not.toContain(SECRET);
    put(places);
    for (const status of ["grown", "unchanged"]) {
      forget(places);
      expect(await places.import()).toMatchObject([{ status, id: fresh?.id }]);
      expect(readFileSync(fresh?.path ?? "", "utf8")).not.toContain(SECRET);
    }
  });
});

describe("a session deleted here", () => {
  test("stays deleted, also without the cache and when it grows, until explicitly imported", async () => {
    const places = new Places();
    put(places, 4);
    const agent = { isSidechain: true, agentId: "abc" };
    const agentPath = CLAUDE_PATH.replace(".jsonl", "/subagents/agent-abc.jsonl");
    const [one] = await places.import();
    await deleteSession(one?.path ?? "", { permanent: true });
    // A new subagent of it belongs to it.
    places.put(
      agentPath,
      joinLines([user("u", null, "look", agent), part("v", "u", "msg_s", text("seen"), agent)]),
    );
    for (const count of [4, 4, 6]) {
      put(places, count);
      for (const dryRun of [true, false]) {
        const all = await places.import({ dryRun });
        expect(all.map(({ status, path }) => [status, path])).toEqual([
          ["deleted", null],
          ["deleted", null],
        ]);
      }
      expect(places.files().size).toBe(0);
      if (count === 4) forget(places);
    }
    expect((await places.import({ again: true, dryRun: true })).map(({ status }) => status)).toEqual([
      "new",
      "new",
    ]);
    expect((await places.import()).map(({ status }) => status)).toEqual(["deleted", "deleted"]);
    expect((await places.import({ again: true })).map(({ status }) => status)).toEqual(["new", "new"]);
    put(places, 6, [user("q9", "a3", "more")]);
    expect((await places.import())[0]).toMatchObject({ status: "grown" });
    expect(places.files().size).toBe(2);
  });

  test("is kept up to date in another folder that has it", async () => {
    const places = new Places();
    put(places, 4);
    const [one] = await places.import();
    const store = memoryStore();
    await places.import({ store, storeName: "memory" });
    await deleteSession(one?.path ?? "", { permanent: true });
    put(places);
    expect(await places.import({ store, storeName: "memory" })).toMatchObject([{ status: "grown" }]);
    expect(await places.import()).toMatchObject([{ status: "deleted" }]);
    await store.close();
  });

  test("is not marked if deletion failed", async () => {
    const places = new Places();
    put(places, 4);
    const [one] = await places.import();
    const path = one?.path ?? "";
    const session = SessionManager.open(path, { lease: "fail" });
    await expect(deleteSession(path, { permanent: true })).rejects.toMatchObject({ code: "LEASE_HELD" });
    await session.close();
    rmSync(path);
    expect(await places.import()).toMatchObject([{ status: "new" }]);
  });
});

/** Returns the session that the records make. */
function imported(count: number) {
  const main = readSourceText(joinLines(RECORDS.slice(0, count)));
  const [one] = importClaudeCode({ main, sessionId: SESSION_ID, importedAt: "2026-11-23T00:00:00.000Z" });
  if (one === undefined) throw new Error("no session");
  return one;
}

describe("a session file", () => {
  test("keeps the leaf of another writer that appends at the same moment", async () => {
    const path = join(temporaryFolder(), "s.jsonl");
    await syncFile(path, imported(3));
    const mine = SessionManager.open(path);
    let calls = 0;
    const fs = {
      ...nodeFs,
      writeSync: ((...given: Parameters<typeof nodeFs.writeSync>) => {
        // Between the import's read and its write.
        if (calls++ === 0) mine.appendMessage({ role: "user", content: "mine", timestamp: 0 });
        return nodeFs.writeSync(...given);
      }) as typeof nodeFs.writeSync,
    };
    const one = imported(6);
    const withWrites = { ...fs, openSync: nodeFs.openSync };
    expect(await syncFile(path, one, withWrites)).toBe("grown");
    expect(calls).toBeGreaterThan(0);
    const said = saidAt(path);
    expect(said.at(-1)).toContain("mine");
    expect(readFileSync(path, "utf8")).toContain("msg_3");
    expect(await syncFile(path, one)).toBe("unchanged");
    await mine.close();
  });

  test("may be created by another import at the same moment", async () => {
    const path = join(temporaryFolder(), "s.jsonl");
    const one = imported(4);
    const fs = {
      ...nodeFs,
      linkSync: ((from: string, to: string) => {
        if (!nodeFs.existsSync(path))
          writeFileSync(path, [...writeSessionLines(one.header, one.entries)].join(""));
        nodeFs.linkSync(from, to);
      }) as typeof nodeFs.linkSync,
    };
    expect(await syncFile(path, one, fs)).toBe("unchanged");
  });

  test.skipIf(IS_WINDOWS)(
    "that is a link, a folder, or a pipe is refused, and a link's target is unchanged",
    async () => {
      const folder = temporaryFolder();
      const one = imported(6);
      const elsewhere = join(folder, "elsewhere.jsonl");
      await syncFile(elsewhere, imported(3));
      const before = readFileSync(elsewhere, "utf8");
      const [link, dangling, inner] = ["link", "dangling", "inner"].map((name) =>
        join(folder, `${name}.jsonl`),
      );
      symlinkSync(elsewhere, link ?? "");
      symlinkSync(join(folder, "nothing"), dangling ?? "");
      mkdirSync(inner ?? "");
      for (const path of [link, dangling, inner])
        await expect(syncFile(path ?? "", one)).rejects.toMatchObject({ code: "WRITE_FAILED" });
      expect(readFileSync(elsewhere, "utf8")).toBe(before);
      expect(nodeFs.existsSync(join(folder, "nothing"))).toBe(false);
    },
  );

  test.each([
    ["empty", () => ""],
    ["full of zeros", (whole: string) => "\0".repeat(whole.length)],
    ["half a header", (whole: string) => whole.slice(0, 30)],
    ["half of it", (whole: string) => whole.slice(0, whole.length / 2)],
    ["half of it and zeros", (whole: string) => whole.slice(0, whole.length / 2).padEnd(whole.length, "\0")],
    [
      "all but the last line",
      (whole: string) => whole.slice(0, whole.lastIndexOf("\n", whole.length - 2) + 1),
    ],
  ])("that a power loss left %s is completed, although the source is unchanged", async (_, damage) => {
    const places = new Places();
    put(places);
    const [one] = await places.import();
    const path = one?.path ?? "";
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, damage(whole));
    const [now] = await places.import();
    expect(now?.status).not.toBe("unchanged");
    expect(readFileSync(path, "utf8")).toBe(whole);
    expect(await places.import()).toMatchObject([{ status: "unchanged" }]);
  });

  test("is left alone if it is not a session", async () => {
    const places = new Places();
    put(places);
    const [one] = await places.import();
    const path = one?.path ?? "";
    writeFileSync(path, "my notes\n");
    const skipped: string[] = [];
    forget(places);
    await places.import({ onSkipped: (file) => skipped.push(file) });
    expect(skipped).toHaveLength(1);
    expect(readFileSync(path, "utf8")).toBe("my notes\n");
  });
});

describe("the version of the mapping", () => {
  const CONVERSATION_BEHIND_RULES = [
    user("q", "m", "begin"),
    part("z", "q", "msg_1", text("ready"), { stop: "end_turn" }),
  ];

  /** Creates a session as an older mapping would have. */
  function age(path: string): void {
    const older = readFileSync(path, "utf8")
      .replace(/"mapping":\d+,/, "")
      .replaceAll("It is the tap.", "It is: the tap.");
    writeFileSync(path, older);
  }

  test("is recorded, and an older session keeps its entries and gets only what is new", async () => {
    const places = new Places();
    put(places, 4);
    const [one] = await places.import();
    const path = one?.path ?? "";
    expect(readFileSync(path, "utf8")).toContain('"mapping":4');
    age(path);
    const before = readFileSync(path, "utf8");
    forget(places);
    expect(await places.import()).toMatchObject([{ status: "unchanged" }]);
    expect(readFileSync(path, "utf8")).toBe(before);
    put(places);
    expect(await places.import()).toMatchObject([{ status: "grown" }]);
    const after = readFileSync(path, "utf8");
    expect(after.startsWith(before)).toBe(true);
    expect(after.slice(before.length).trim().split("\n")).toHaveLength(2);
    expect(saidAt(path)).toHaveLength(6);
  });

  test("with other parents for entries is kept, too, and what is new is added once", async () => {
    const records = [
      user("q", null, "begin"),
      part("a1", "q", "msg_1", call("t1"), { stop: "tool_use" }),
      part("a2", "a1", "msg_2", call("t2"), { stop: "tool_use" }),
      result("r1", "a2", "t1", "first result"),
      result("r2", "r1", "t2", "second result"),
      part("z", "r2", "msg_3", text("ready"), { stop: "end_turn" }),
      user("q2", "z", "go on"),
      part("y", "q2", "msg_4", text("done"), { stop: "end_turn" }),
    ];
    const places = new Places();
    places.put(CLAUDE_PATH, joinLines(records.slice(0, 6)));
    const [one] = await places.import();
    const path = one?.path ?? "";
    // The first mapping left the second call on a separate branch.
    const idOf = (words: string) => entryHolding(SessionManager.open(path, { mode: "read-only" }), words);
    const [call1, result1] = [idOf('"id":"t1"'), idOf("first result")];
    const older = readFileSync(path, "utf8")
      .replace(/"mapping":\d+,/, "")
      .replace(new RegExp(`("id":"${result1}","parentId":)"[^"]*"`), `$1"${call1}"`);
    expect(older).toContain(`"id":"${result1}","parentId":"${call1}"`);
    writeFileSync(path, older);
    for (const [count, status, added] of [
      [6, "unchanged", 0],
      [7, "grown", 1],
      [8, "grown", 1],
      [8, "unchanged", 0],
    ] as const) {
      places.put(CLAUDE_PATH, joinLines(records.slice(0, count)));
      forget(places);
      const before = readFileSync(path, "utf8");
      expect(await places.import()).toMatchObject([{ status }]);
      const after = readFileSync(path, "utf8");
      expect(after.startsWith(before)).toBe(true);
      expect(after.slice(before.length).split("\n")).toHaveLength(added + 1);
    }
    expect(saidAt(path).at(-1)).toContain("done");
  });

  test("keeps the program's own texts as an older one made them, and maps new ones its own way", async () => {
    const records = [
      user("m", null, "old rules", { isMeta: true }),
      ...CONVERSATION_BEHIND_RULES,
      user("n", "z", "new rules", { isMeta: true }),
      user("q2", "n", "go on"),
    ];
    const places = new Places();
    places.put(CLAUDE_PATH, joinLines(records.slice(0, -2)));
    const [one] = await places.import();
    const path = one?.path ?? "";
    // Earlier mappings put them into the context.
    const older = readFileSync(path, "utf8")
      .replace('"mapping":4', '"mapping":3')
      .replace(
        /"type":"custom"(,[^\n]*),"data":\{"content":"old rules"\}/,
        '"type":"custom_message"$1,"content":"old rules","display":false',
      );
    expect(older).toContain('"type":"custom_message"');
    writeFileSync(path, older);
    forget(places);
    expect(await places.import()).toMatchObject([{ status: "unchanged" }]);
    places.put(CLAUDE_PATH, joinLines(records));
    forget(places);
    expect(await places.import()).toMatchObject([{ status: "grown" }]);
    const after = readFileSync(path, "utf8");
    expect(after.startsWith(older)).toBe(true);
    const context = (file: string) =>
      JSON.stringify(SessionManager.open(file, { mode: "read-only" }).buildSessionContext().messages);
    expect(context(path)).toContain("old rules");
    expect(context(path)).not.toContain("new rules");
    expect(after).toContain('"new rules"');
    const [fresh] = await places.import({ fresh: true });
    expect(fresh).toMatchObject({ status: "new", id: `${SESSION_ID}.m4` });
    expect(context(fresh?.path ?? "")).not.toContain("rules");
    expect(context(fresh?.path ?? "")).toContain("go on");
  });

  test("keeps results as an older one named their calls, once, and names new ones in full", async () => {
    const metadata = { openai: { itemId: "fc_1" } };
    const turnOf = (n: number) => [
      openCodePrompt(`q${n}`, n * 10, `prompt ${n}`),
      openCodeAnswer(`a${n}`, n * 10 + 1, [{ ...openCodeCall(`c${n}`, "read"), metadata }]),
    ];
    const places = new Places();
    const paths = [places.put("session.json", JSON.stringify(makeDocument(turnOf(1))))];
    const [one] = await places.import({ paths });
    const path = one?.path ?? "";
    const whole = readFileSync(path, "utf8");
    // Mappings before 4 named only the first half.
    const older = whole
      .replace('"mapping":4', '"mapping":3')
      .replace('"toolCallId":"c1|fc_1"', '"toolCallId":"c1"');
    expect(older.length).toBe(whole.length - "|fc_1".length);
    writeFileSync(path, older);
    forget(places);
    expect(await places.import({ paths })).toMatchObject([{ status: "unchanged" }]);
    places.put("session.json", JSON.stringify(makeDocument([...turnOf(1), ...turnOf(2)])));
    expect(await places.import({ paths })).toMatchObject([{ status: "grown" }]);
    const after = readFileSync(path, "utf8");
    expect(after.startsWith(older)).toBe(true);
    expect(after.match(/"toolCallId":"[^"]*"/g)).toEqual(['"toolCallId":"c1"', '"toolCallId":"c2|fc_1"']);
    const [fresh] = await places.import({ paths, fresh: true });
    const anew = readFileSync(fresh?.path ?? "", "utf8");
    expect(anew.match(/"toolCallId":"[^"]*"/g)).toEqual(['"toolCallId":"c1|fc_1"', '"toolCallId":"c2|fc_1"']);
  });

  test("determines what is re-imported alongside the existing session, once", async () => {
    const places = new Places();
    put(places);
    const [one] = await places.import();
    age(one?.path ?? "");
    const before = readFileSync(one?.path ?? "", "utf8");
    for (const status of ["new", "unchanged"]) {
      const [fresh] = await places.import({ fresh: true });
      expect(fresh).toMatchObject({ status, id: `${SESSION_ID}.m4` });
    }
    expect(places.files().size).toBe(2);
    expect(readFileSync(one?.path ?? "", "utf8")).toBe(before);
  });
});

test("writes imports to their own folder, and leaves earlier ones in place", async () => {
  const places = new Places();
  put(places, 4);
  const agentDir = join(places.root, "agent");
  const run = async (more: Partial<ImportSessionsOptions> = {}) => {
    const found = [];
    for await (const one of importSessions({
      earlierDirs: [join(agentDir, "sessions")],
      env: { HOME: places.home },
      cacheDir: places.cacheDir,
      ...more,
    }))
      found.push(one);
    return found;
  };
  const sessionDir = join(agentDir, "sessions", "--code-project--");
  const [old] = await run({ store: fileStore({ sessionDir }) });
  put(places);
  expect(await run()).toMatchObject([{ status: "grown", path: old?.path }]);
  rmSync(old?.path ?? "");
  const [one] = await run();
  const root = join(process.env["XDG_DATA_HOME"] ?? "", "sessiontree", "imported");
  expect(dirname(one?.path ?? "")).toBe(joinProjectFolder(root, "/code/project"));
  if (!IS_WINDOWS) expect(nodeFs.statSync(root).mode & 0o777).toBe(0o700);
});

describe("a name given here", () => {
  const made = { type: "ai-title", aiTitle: "Made by the program", sessionId: SESSION_ID };
  const renamed = { type: "custom-title", customTitle: "Renamed there", sessionId: SESSION_ID };
  const nameAt = (path: string) => SessionManager.open(path, { mode: "read-only" }).getSessionName();

  test("takes precedence over later names that the program generates, until the user renames the session there", async () => {
    const places = new Places();
    put(places, 2);
    const [one] = await places.import();
    const path = one?.path ?? "";
    const session = SessionManager.open(path);
    session.appendSessionInfo("Mine");
    await session.close();
    put(places, 4, [made]);
    await places.import();
    expect(nameAt(path)).toBe("Mine");
    put(places, 4, [made, ...RECORDS.slice(4)]);
    expect((await places.import())[0]?.status).toBe("grown");
    expect(saidAt(path).at(-1)).toContain("done");
    expect((await places.import())[0]?.status).toBe("unchanged");
    expect(nameAt(path)).toBe("Mine");
    put(places, 4, [made, ...RECORDS.slice(4), renamed]);
    await places.import();
    expect(nameAt(path)).toBe("Renamed there");
  });

  test("yields to the program's name when cleared", async () => {
    const places = new Places();
    put(places, 2);
    const [one] = await places.import();
    const path = one?.path ?? "";
    const session = SessionManager.open(path);
    session.appendSessionInfo("Mine");
    session.appendSessionInfo("");
    await session.close();
    put(places, 4, [made]);
    await places.import();
    expect(nameAt(path)).toBe("Made by the program");
  });
});
