import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  deleteSession,
  foldSessionSummary,
  forkSession,
  getSessionMessages,
  getSubagentMessages,
  importSessionToStore,
  listSessions,
  renameSession,
  type SessionStore as SdkSessionStore,
  type SessionStoreEntry,
} from "@anthropic-ai/claude-agent-sdk";
import { SessionManager } from "sessiontree";
import { type ClaudeRecord, claudeSessionStore } from "sessiontree/adapters";
import { fileStore, memoryStore, remoteStore } from "sessiontree/stores";
import { faultyBackend } from "sessiontree/testing";
import { afterEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { AGENT, claudeContracts, MAIN, record, SESSION } from "./support/claude-contracts.ts";

claudeContracts("files", async () => {
  const sessionDir = temporaryFolder();
  const another = () => fileStore({ sessionDir, deletesForGood: true });
  return { store: another(), another };
});

claudeContracts("memory", async () => {
  const backend = new MemoryBackend();
  return { store: remoteStore(backend), another: () => remoteStore(backend) };
});

test("is a session store of the SDK", () => {
  const store: SdkSessionStore = claudeSessionStore(memoryStore(), { foldSessionSummary });
  expect(Object.keys(store).sort()).toEqual(
    ["append", "delete", "listSessionSummaries", "listSessions", "listSubkeys", "load"].sort(),
  );
  expectTypeOf<ClaudeRecord>().toExtend<SessionStoreEntry>();
  expectTypeOf<SessionStoreEntry>().toExtend<ClaudeRecord>();
});

test("stores no summaries without the SDK's function, so that the SDK reads transcripts instead", () => {
  expect(claudeSessionStore(memoryStore()).listSessions).toBeTypeOf("function");
  expect("listSessionSummaries" in claudeSessionStore(memoryStore())).toBe(false);
});

test("refuses an invalid key or record, and writes nothing", async () => {
  const store = memoryStore();
  const sessions = claudeSessionStore(store);
  for (const key of [{ ...MAIN, subpath: "" }, { ...MAIN, projectKey: "" }, { projectKey: "p" }]) {
    await expect(Reflect.apply(sessions.append, sessions, [key, [record("a")]])).rejects.toThrow(TypeError);
  }
  for (const bad of ["text", null, { type: "x", at: new Date(0) }]) {
    await expect(Reflect.apply(sessions.append, sessions, [MAIN, [record("a"), bad]])).rejects.toThrow(
      TypeError,
    );
  }
  expect(await sessions.load(MAIN)).toBeNull();
  for await (const session of store.list()) expect.fail(`${session.id} was made`);
});

test("loses and repeats nothing when the store fails temporarily", async () => {
  const { backend, faults } = faultyBackend(new MemoryBackend());
  const pace = { minRetryMs: 1, maxRetryMs: 2, giveUpAfterMs: 300 };
  const sessions = claudeSessionStore(remoteStore(backend, pace));
  await sessions.append(MAIN, [record("a")]);
  faults.failNext(1_000_000);
  await expect(sessions.append(MAIN, [record("b")])).rejects.toThrow(
    expect.objectContaining({ name: "SessionError" }),
  );
  faults.failNext(0);
  await sessions.append(MAIN, [record("b"), record("c")]);
  faults.loseAnswers(3);
  await sessions.append(MAIN, [record("d")]);
  const expected = [record("a"), record("b"), record("c"), record("d")];
  expect(await sessions.load(MAIN)).toStrictEqual(expected);
  const fresh = claudeSessionStore(remoteStore(backend, pace));
  await vi.waitFor(async () => expect(await fresh.load(MAIN)).toStrictEqual(expected), {
    timeout: PATIENCE_MS,
  });
});

test("stores a batch once if its summary fails and the SDK appends it again", async () => {
  const fold = vi.fn(foldSessionSummary).mockImplementationOnce(() => {
    throw new Error("no summary");
  });
  const sessions = claudeSessionStore(memoryStore(), { foldSessionSummary: fold });
  const batch = [record("a"), { type: "summary", summary: "without a uuid" }];
  await expect(sessions.append(MAIN, batch)).rejects.toThrow("no summary");
  await sessions.append(MAIN, batch);
  expect(await sessions.load(MAIN)).toStrictEqual(batch);
  await sessions.append(MAIN, batch.slice(1));
  expect(await sessions.load(MAIN)).toStrictEqual([...batch, batch[1]]);
});

test("stores a batch once if only the index cannot be written and the SDK appends it again", async () => {
  const sessions = claudeSessionStore(fileStore({ sessionDir: temporaryFolder() }));
  const batch = [record("a"), { type: "summary", summary: "without a uuid" }];
  await sessions.append(MAIN, [record("0")]);
  const note = vi.spyOn(SessionManager.prototype, "appendCustomEntry");
  try {
    for (let attempt = 0; attempt < 2; attempt++) {
      note.mockImplementationOnce(() => {
        throw new Error("no index");
      });
      await expect(sessions.append(MAIN, batch)).rejects.toThrow("no index");
    }
  } finally {
    note.mockRestore();
  }
  await sessions.append(MAIN, batch);
  expect(await sessions.load(MAIN)).toStrictEqual([record("0"), ...batch]);
});

test("restarts a session that another process deleted", async () => {
  const sessionDir = temporaryFolder();
  const store = fileStore({ sessionDir, deletesForGood: true });
  const sessions = claudeSessionStore(store);
  await sessions.append(MAIN, [record("a")]);
  await claudeSessionStore(fileStore({ sessionDir, deletesForGood: true })).delete(MAIN);
  expect(await sessions.load(MAIN)).toBeNull();
  await sessions.append(MAIN, [record("b")]);
  expect(await sessions.load(MAIN)).toStrictEqual([record("b")]);
});

test("stores each record in an entry of an ordinary session", async () => {
  const store = memoryStore();
  await claudeSessionStore(store, { cwd: "/projects/shop" }).append(MAIN, [record("a")]);
  const names: (string | undefined)[] = [];
  for await (const { id, name } of store.list({ cwd: "/projects/shop" })) {
    names.push(name);
    const types = (await store.open(id)).getEntries().map(({ type }) => type);
    expect(types).toEqual(["session_info", "custom"]);
  }
  expect(names.sort()).toEqual([`Claude ${SESSION}`, "Claude sessions of -projects-shop"]);
});

describe("with the SDK itself", () => {
  afterEach(() => vi.unstubAllEnvs());

  const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
  /** A transcript as the agent writes it: a question and its answer. */
  const transcript = (from: number, question: string) => {
    const base = {
      sessionId: SESSION,
      cwd: "/projects/shop",
      version: "2.1.330",
      isSidechain: false,
      userType: "external",
    };
    const at = (n: number) => ({ uuid: uuid(n), timestamp: `2026-11-01T10:00:0${n}.000Z` });
    return [
      {
        ...base,
        ...at(from),
        type: "user",
        parentUuid: from === 1 ? null : uuid(from - 1),
        message: { role: "user", content: question },
      },
      {
        ...base,
        ...at(from + 1),
        type: "assistant",
        parentUuid: uuid(from),
        requestId: "req_1",
        message: {
          id: `msg_${from}`,
          type: "message",
          role: "assistant",
          model: "claude-x",
          content: [{ type: "text", text: `About: ${question}` }],
          stop_reason: "end_turn",
          stop_sequence: null,
          usage: { input_tokens: 3, output_tokens: 5 },
        },
      },
    ];
  };

  /** A local session of the agent, with a subagent, in a separate home folder. */
  function localSession(): string {
    const home = temporaryFolder();
    const folder = join(home, "projects", "-projects-shop");
    mkdirSync(join(folder, SESSION, "subagents"), { recursive: true });
    const lines = (records: object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join("");
    writeFileSync(
      join(folder, `${SESSION}.jsonl`),
      lines([...transcript(1, "Why?"), ...transcript(3, "And now?")]),
    );
    const agent = transcript(5, "Look around.").map((one) => ({ ...one, isSidechain: true, agentId: "7f" }));
    writeFileSync(join(folder, SESSION, "subagents", "agent-7f.jsonl"), lines(agent));
    vi.stubEnv("CLAUDE_CONFIG_DIR", home);
    return home;
  }

  test("imports a session twice without repeating it, lists it, and reads its messages", async () => {
    localSession();
    const sessionDir = temporaryFolder();
    const sessionStore = claudeSessionStore(fileStore({ sessionDir }), { foldSessionSummary });
    for (let times = 0; times < 2; times++) {
      await importSessionToStore(SESSION, sessionStore, { dir: "/projects/shop", batchSize: 3 });
    }
    expect(await sessionStore.load({ ...MAIN })).toStrictEqual([
      ...transcript(1, "Why?"),
      ...transcript(3, "And now?"),
    ]);
    expect(await sessionStore.listSubkeys(MAIN)).toEqual([AGENT.subpath]);

    const again = claudeSessionStore(fileStore({ sessionDir }), { foldSessionSummary });
    const listed = await listSessions({ dir: "/projects/shop", sessionStore: again });
    expect(listed).toMatchObject([{ sessionId: SESSION, firstPrompt: "Why?" }]);
    const messages = await getSessionMessages(SESSION, { dir: "/projects/shop", sessionStore: again });
    expect(messages.map(({ uuid: id }) => id)).toEqual([1, 2, 3, 4].map(uuid));
    const ofAgent = await getSubagentMessages(SESSION, "7f", { dir: "/projects/shop", sessionStore: again });
    expect(ofAgent.map(({ uuid: id }) => id)).toEqual([5, 6].map(uuid));
  });

  test("renames, forks, and deletes a session in the store", async () => {
    const sessionStore = claudeSessionStore(memoryStore(), { foldSessionSummary });
    await sessionStore.append(MAIN, transcript(1, "Why?"));
    const options = { dir: "/projects/shop", sessionStore };
    await renameSession(SESSION, "The cart", options);
    expect(await listSessions(options)).toMatchObject([{ sessionId: SESSION, customTitle: "The cart" }]);
    const fork = await forkSession(SESSION, options);
    expect(await getSessionMessages(fork.sessionId, options)).toHaveLength(2);
    await deleteSession(SESSION, options);
    expect((await listSessions(options)).map(({ sessionId }) => sessionId)).toEqual([fork.sessionId]);
    expect(await getSessionMessages(SESSION, options)).toEqual([]);
  });
});
