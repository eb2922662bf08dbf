import { readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { IMPORT_CUSTOM_TYPE } from "../../../src/core/format/import-origin.ts";
import { previewImport, type SessionImport } from "../../../src/interop/history/import-sessions.ts";
import { FileTarget } from "../../../src/interop/history/import-target.ts";
import { SessionIds } from "../../../src/interop/history/session-importer.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { call, importAll, joinLines, part, result, text, user } from "../import/support/claude-records.ts";
import { meta, numbered, said, THREAD_ID, turn } from "../import/support/codex-records.ts";
import { Places } from "./support/places.ts";
import { syncFile } from "./support/sync-file.ts";

beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

/** Writes a session of Gemini CLI; its id may contain characters that a file name may not. */
function gemini(
  places: Places,
  id: string,
  minute: number,
  said: readonly string[] = [`said in ${id}`],
): string {
  const startTime = `2026-11-22T06:${String(minute).padStart(2, "0")}:00.000Z`;
  const messages = said.map((content, number) => ({
    id: `${id} ${number}`,
    type: "user",
    content,
    timestamp: startTime,
  }));
  const name = id.replace("/", "_");
  return places.put(
    `.gemini/tmp/hash/chats/session-${name}.json`,
    JSON.stringify({ sessionId: id, projectHash: "hash", startTime, messages }),
  );
}

/** Returns imported session ids by source id; each file must contain its own source's messages and no others. */
function idsOf(found: readonly SessionImport[]): Map<string, string> {
  for (const { path, source, sourceId } of found) {
    const session = SessionManager.open(path ?? "", { mode: "read-only" });
    const told = session
      .getEntries()
      .filter((entry) => entry.type === "custom" && entry.customType === IMPORT_CUSTOM_TYPE);
    expect(told).toMatchObject([{ data: { source, sourceId } }]);
  }
  expect(new Set(found.map(({ path }) => path)).size).toBe(found.length);
  return new Map(found.map(({ source, sourceId, id }) => [`${source} ${sourceId}`, id]));
}

/** Chooses ids as in a run with no other sessions. */
function idsFor(target: FileTarget): SessionIds {
  const flags = { isDryRun: false, isFresh: false, isAgain: false };
  return new SessionIds(target, { importedAt: "", cacheDir: "", beginnings: new Map(), ...flags });
}

function forget({ cacheDir }: Places): void {
  rmSync(cacheDir, { recursive: true, force: true });
}

describe("ids that are equal in a file name", () => {
  test("become separate sessions, the earliest under the plain id", async () => {
    const places = new Places();
    gemini(places, "x-y", 2);
    gemini(places, "x/y", 1);
    const ids = idsOf(await places.import());
    expect(ids.get("gemini x/y")).toBe("x-y");
    expect(ids.get("gemini x-y")).toMatch(/^[0-9a-f]{8}\.x-y$/);
    for (const isKnown of [true, false]) {
      if (!isKnown) forget(places);
      const again = await places.import();
      expect(again.map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
      expect(idsOf(again)).toEqual(ids);
    }
    gemini(places, "x-y", 2, ["said in x-y", "and more"]);
    const grown = await places.import();
    expect(grown.map(({ status }) => status)).toEqual(["unchanged", "grown"]);
    expect(idsOf(grown)).toEqual(ids);
  });

  test("keep the ids of whichever was imported first, alone or not, even if its file was removed", async () => {
    const places = new Places();
    const later = gemini(places, "x-y", 2);
    const earlier = gemini(places, "x/y", 1);
    const [first] = await places.import({ paths: [later] });
    expect(first?.id).toBe("x-y");
    const [second] = await places.import({ paths: [earlier] });
    expect(second?.id).toMatch(/^[0-9a-f]{8}\.x-y$/);
    const both = idsOf(await places.import());
    expect(both).toEqual(
      new Map([
        ["gemini x/y", second?.id],
        ["gemini x-y", "x-y"],
      ]),
    );
    rmSync(first?.path ?? "");
    forget(places);
    expect(idsOf(await places.import({ paths: [earlier] })).get("gemini x/y")).toBe(second?.id);
  });

  test("are reported by a dry run as by a run", async () => {
    const places = new Places();
    gemini(places, "x-y", 2);
    gemini(places, "x/y", 1);
    const dry = await places.import({ dryRun: true });
    expect(new Set(dry.map(({ id }) => id)).size).toBe(2);
    expect(dry.map(({ id }) => id)).toEqual((await places.import()).map(({ id }) => id));
    const store = fileStore({ sessionDir: places.sessions });
    const preview = await previewImport({ store, env: { HOME: places.home }, cacheDir: places.cacheDir });
    expect(preview).toMatchObject([{ sessions: 2, changed: 0 }]);
  });

  test("are kept apart in a store", async () => {
    const places = new Places();
    const store = memoryStore();
    const run = () => places.import({ store, storeName: "memory" });
    gemini(places, "x-y", 2);
    gemini(places, "x/y", 1);
    const first = await run();
    forget(places);
    const again = await run();
    expect(again.map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
    expect(again.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
    expect(new Set(first.map(({ id }) => id)).size).toBe(2);
  });

  test("are kept apart after a session's provenance is redacted", async () => {
    const places = new Places();
    gemini(places, "x/y", 1);
    const [one] = await places.import();
    const session = SessionManager.open(one?.path ?? "");
    session.redactEntry(session.getEntries()[0]?.id ?? "");
    await session.close();
    gemini(places, "x-y", 2);
    forget(places);
    const found = await places.import();
    expect(found.map(({ id, status }) => [id, status])).toEqual([
      ["x-y", "unchanged"],
      [expect.stringMatching(/^[0-9a-f]{8}\.x-y$/), "new"],
    ]);
  });
});

test("does not write to a session that another import created at the same moment under the same id", async () => {
  const path = join(temporaryFolder(), "one.jsonl");
  const [one, other] = ["one", "other"].flatMap((sessionId) =>
    importAll([user("q", null, `said in ${sessionId}`), part("a", "q", "m", text("hi"))], { sessionId }),
  );
  if (one === undefined || other === undefined) throw new Error("no sessions");
  await syncFile(path, one);
  const before = readFileSync(path, "utf8");
  await expect(syncFile(path, other)).rejects.toThrow(
    "Another import has created a session with this id, from claude-code one: import again.",
  );
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("imports sessions of two programs with one id as two sessions", async () => {
  const places = new Places();
  const thread = numbered([meta(), ...turn("of Codex", said("assistant", "Three."))]);
  places.put(`.codex/sessions/2026/11/22/rollout-2026-11-22T05-00-00-${THREAD_ID}.jsonl`, joinLines(thread));
  places.put(
    `.claude/projects/-code-project/${THREAD_ID}.jsonl`,
    joinLines([user("q", null, "of Claude"), part("a", "q", "m", text("hi"))]),
  );
  const ids = idsOf(await places.import());
  expect(ids.get(`codex ${THREAD_ID}`)).toBe(THREAD_ID);
  expect(ids.get(`claude-code ${THREAD_ID}`)).toMatch(new RegExp(`^[0-9a-f]{8}\\.${THREAD_ID}$`));
  forget(places);
  expect((await places.import()).map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
});

test("links a session under a derived id with its subagents both ways", async () => {
  const places = new Places();
  const put = (id: string, minute: number) => {
    const timestamp = `2026-11-22T0${minute}:00:00.000Z`;
    places.put(
      `.claude/projects/-code-project/${id}.jsonl`,
      joinLines([
        user("q", null, "go", { timestamp }),
        part("a", "q", "m", call("t1", "Task", { prompt: "look" }), { timestamp }),
        result("r", "a", "t1", "seen", { timestamp, toolUseResult: { agentId: "ab12" } }),
      ]),
    );
    const mine = { timestamp, isSidechain: true, agentId: "ab12" };
    places.put(
      `.claude/projects/-code-project/${id}/subagents/agent-ab12.jsonl`,
      joinLines([user("s", null, "look", mine), part("b", "s", "m2", text("seen"), mine)]),
    );
  };
  put("x y", 1);
  put("x-y", 2);
  const found = await places.import();
  expect(found.map(({ id }) => id.replace(/[0-9a-f]{8}\./, "DIGEST."))).toEqual([
    "x-y",
    "agent-ab12.x-y",
    "DIGEST.x-y",
    "agent-ab12.DIGEST.x-y",
  ]);
  for (const [main, agent] of [found.slice(0, 2), found.slice(2)]) {
    expect(readFileSync(main?.path ?? "", "utf8")).toContain(`"sessionId":"${agent?.id}"`);
    expect(SessionManager.open(agent?.path ?? "", { mode: "read-only" }).getHeader()?.parentSession).toBe(
      main?.path,
    );
  }
});

test.each([["is imported with it"], ["was imported before, and its file was removed"]])(
  "names a fork's parent although the parent's id was changed, if it %s",
  async (when) => {
    const places = new Places();
    const parent = places.put(
      ".claude/projects/-code-project/my session.jsonl",
      joinLines([user("q", null, "hello"), part("a", "q", "m", text("hi"))]),
    );
    const forkedFrom = { sessionId: "my session", messageUuid: "m" };
    const putFork = () =>
      places.put(
        ".claude/projects/-code-project/fork.jsonl",
        joinLines([user("f", null, "hello", { forkedFrom }), part("g", "f", "m2", text("hi"))]),
      );
    if (when === "is imported with it") putFork();
    else {
      await places.import();
      rmSync(parent);
      putFork();
    }
    const found = await places.import();
    const fork = found.find(({ sourceId }) => sourceId === "fork");
    const session = SessionManager.open(fork?.path ?? "", { mode: "read-only" });
    const path = session.getHeader()?.parentSession ?? "";
    expect(basename(path)).toMatch(/_my-session\.jsonl$/);
    expect(readFileSync(join(places.sessions, basename(path)), "utf8")).toContain("hello");
  },
);

test("keeps an id that another import uses while it is being chosen", async () => {
  const places = new Places();
  gemini(places, "x", 1);
  const origin = { source: "gemini", sourceId: "x" } as const;
  class Beside extends FileTarget {
    #isAsked = false;

    override async has(path: string): Promise<boolean> {
      if (this.#isAsked) return super.has(path);
      this.#isAsked = true;
      await places.import();
      return false;
    }
  }
  const target = new Beside({ folder: places.sessions, root: "" }, () => new Map());
  const ids = idsFor(target);
  const header = {
    type: "session",
    version: 3,
    id: "x",
    timestamp: "2026-11-22T06:01:00.000Z",
    cwd: "",
  } as const;
  expect(await ids.getBaseId(origin, header)).toBe("x");
  expect(await ids.getBaseId({ ...origin, sourceId: "another" }, header)).toMatch(/^[0-9a-f]{8}\.x$/);
});

test("keeps a derived id although the session with the plain id is deleted while it is being chosen", async () => {
  const places = new Places();
  gemini(places, "x-y", 1);
  gemini(places, "x/y", 2);
  const [plain, other] = await places.import();
  class Beside extends FileTarget {
    override async readFront(path: string): Promise<Uint8Array | undefined> {
      rmSync(plain?.path ?? "", { force: true });
      return super.readFront(path);
    }
  }
  const byId = () =>
    new Map([plain, other].flatMap((one) => (one ? [[one.id, one.path ?? ""] as const] : [])));
  const target = new Beside({ folder: places.sessions, root: "" }, byId);
  const ids = idsFor(target);
  const header = { type: "session", version: 3, id: "x-y", timestamp: "", cwd: "" } as const;
  expect(other?.id).toMatch(/^[0-9a-f]{8}\.x-y$/);
  expect(await ids.getBaseId({ source: "gemini", sourceId: "x/y" }, header)).toBe(other?.id);
});
