import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import * as main from "sessiontree";
import * as adapters from "sessiontree/adapters";
import * as catalog from "sessiontree/catalog";
import * as controller from "sessiontree/controller";
import * as convert from "sessiontree/convert";
import * as imports from "sessiontree/import";
import * as langgraph from "sessiontree/langgraph";
import * as mcp from "sessiontree/mcp";
import * as postgres from "sessiontree/postgres";
import * as schema from "sessiontree/schema";
import * as sqlite from "sessiontree/sqlite";
import * as stores from "sessiontree/stores";
import * as testing from "sessiontree/testing";
import { assistant, call, toolResult, usage, user } from "../../support/messages.ts";

const { SessionManager } = main;

/** Exported values by name. */
export const EXPORTED: ReadonlyMap<string, unknown> = new Map(
  [
    main,
    adapters,
    catalog,
    controller,
    convert,
    imports,
    langgraph,
    mcp,
    postgres,
    schema,
    sqlite,
    stores,
    testing,
  ].flatMap((module) => Object.entries(module)),
);

/** Makes the object and valid arguments of a call. They are made for each call, because calls may change them. */
type MakeArgs = () => readonly unknown[];

const OPTIONS = { timestamp: 1, model: "claude-opus-5-5" };
const IDS = { first: "aaaaaaaa", answer: "bbbbbbbb" };
const AT = "2026-02-03T22:52:06.410Z";
const HEADER = { type: "session", version: 3, id: "s1", timestamp: AT, cwd: "/p" } as const;
const ENTRIES = [
  { type: "message", id: IDS.first, parentId: null, timestamp: AT, message: user("Fix it") },
  {
    type: "message",
    id: IDS.answer,
    parentId: IDS.first,
    timestamp: AT,
    message: assistant("Yes", {}, call("c1")),
  },
  {
    type: "message",
    id: "cccccccc",
    parentId: IDS.answer,
    timestamp: AT,
    message: toolResult("c1", "done"),
  },
] as const;
const TEXT = [HEADER, ...ENTRIES].map((record) => `${JSON.stringify(record)}\n`).join("");
const SETTINGS = main.DEFAULT_COMPACTION_SETTINGS;
const SUMMARIZE = async () => ({ text: "Summary" });

const copy = <T>(value: T): T => structuredClone(value);
const entries = () => copy([...ENTRIES]);
const messages = () => ENTRIES.map(({ message }) => copy(message));

/** Returns a session in memory with a few entries. */
const session = () => SessionManager.inMemory("/p", {}, [copy(HEADER), ...entries()]);

/** Returns a preparation for a compaction. */
function preparation(): unknown {
  return main.prepareCompaction(entries(), { ...SETTINGS, keepRecentTokens: 1 });
}

/** Returns a compaction's request to Anthropic. */
function summaryRequest(): unknown {
  return {
    request: { messages: [], compaction: { type: "summarize" } },
    firstKeptEntryId: IDS.answer,
    tokensBefore: 1,
    leafId: "cccccccc",
    record: { system: "", tools: "", messages: "", kept: {} },
    issues: [],
  };
}

const compactionAnswer = () => ({ content: [{ type: "compaction", content: "Summary" }] });

/** Yields the bytes of a session. */
async function* pieces(): AsyncGenerator<Uint8Array, void> {
  yield new TextEncoder().encode(TEXT);
}

/** Schema that accepts every value. */
const SCHEMA = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } };

const ignore = () => undefined;
const refuse = () => Promise.reject(new main.SessionError("STORE_UNAVAILABLE", "This test has no database."));

/** Pool that cannot connect. */
const POOL = { connect: refuse, on: ignore, off: ignore, query: refuse };

/** Database without tables. */
const DATABASE = { prepare: () => ({ all: () => [], run: ignore }) };

/** Returns a backend of which nothing is called. */
function backend(): object {
  const supports = {
    durable: false,
    conditionalAppend: false,
    rewrite: false,
    indexedSearch: false,
    watch: false,
  };
  return {
    supports,
    create: refuse,
    read: refuse,
    append: refuse,
    list: refuse,
    delete: refuse,
    close: refuse,
  };
}

const ui = () => [{ id: "u1", role: "user", parts: [{ type: "text", text: "Hi" }] }];
const draft = () => ({ type: "message", message: user("More") });
const signal = () => AbortSignal.abort();
const MISSING = "missing.jsonl";
const NEVER = "never-created";
const importOptions = () => ({ paths: [], sources: ["codex"], env: {}, cacheDir: "cache" });
const makeAnswer = (content: object) => ({ role: "assistant", ...content });
const record = () => ({
  text: { records: [] },
  sessionId: "s1",
  rollouts: [],
  threads: [],
  wires: [],
  main: { records: [] },
  path: "p",
  sourceId: "s1",
  records: [],
  document: [user("Hi")],
  startedAt: AT,
  importedAt: AT,
});

/** Valid arguments of every exported function. */
export const FUNCTION_ARGS: { readonly [name: string]: MakeArgs } = {
  addRecall: () => [
    { registerTool: ignore, registerPrompt: ignore, registerResource: ignore, server: {} },
    { cwd: "/p" },
  ],
  appendAnthropicSummary: () => [session(), summaryRequest(), compactionAnswer()],
  appendConversation: () => [session(), messages()],
  assertValidSessionId: () => ["s1"],
  assistantMessage: () => ["Yes", { ...OPTIONS, api: "test", provider: "acme" }],
  buildContextEntries: () => [entries(), IDS.answer, new Map(entries().map((entry) => [entry.id, entry]))],
  buildSessionContext: () => [entries(), IDS.answer, new Map(entries().map((entry) => [entry.id, entry]))],
  buildSessionProjection: () => [entries(), IDS.answer, new Map(entries().map((entry) => [entry.id, entry]))],
  calculateContextTokens: () => [usage(1)],
  chatVersions: () => [session(), IDS.answer],
  claudeSessionStore: () => [stores.memoryStore(), { cwd: "/p" }],
  collectEntriesForBranchSummary: () => [session(), IDS.answer, IDS.first],
  collectUsage: () => [{ sessionDir: NEVER }],
  compact: () => [preparation(), SUMMARIZE, {}],
  compactWithoutModel: () => [preparation(), 100, () => 1],
  computeFileLists: () => [{ read: new Set(["a"]), written: new Set(["b"]), edited: new Set() }],
  continueIn: () => ["codex", session(), { env: {}, dryRun: true }],
  convertToLlm: () => [messages(), { repairToolPairs: true }],
  copySession: () => [stores.memoryStore(), "s1", stores.memoryStore(), { signal: signal() }],
  defineEntryType: () => ["note", SCHEMA],
  deleteSession: () => [MISSING, { permanent: false }],
  deleteSessionsBefore: () => [{ client: POOL, before: new Date(0), tenant: "t" }],
  deleteTenant: () => [{ client: POOL, tenant: "t" }],
  detectSource: () => [TEXT],
  diffBranches: () => [session(), IDS.answer, IDS.first],
  estimateContextTokens: () => [messages(), () => 1],
  estimateProjectedContextTokens: () => [session().buildSessionProjection(), entries(), () => 1],
  estimateTokens: () => [user("Hi"), () => 1],
  exportAtif: () => [session(), { leafId: IDS.answer }],
  exportFor: () => ["codex", session(), { cwd: "/p" }],
  faultyBackend: () => [backend()],
  fileStore: () => [{ sessionDir: NEVER }],
  findAtifSession: () => [{ schema_version: "ATIF-v1", steps: [] }],
  findCutPoint: () => [entries(), 0, 3, 1, () => 1],
  findMostRecentSession: () => [NEVER, "/p", ignore],
  findTurnStartIndex: () => [entries(), 2, 0],
  foldSystemMessages: () => [messages(), 1],
  formatFileOperations: () => [["a"], ["b"]],
  fromAcpPrompt: () => [[{ type: "text", text: "Hi" }]],
  fromAcpUpdates: () => [
    [{ sessionUpdate: "user_message_chunk", content: { type: "text", text: "Hi" } }],
    OPTIONS,
  ],
  fromAnthropic: () => [{ system: "Be brief.", messages: [{ role: "user", content: "Hi" }] }, OPTIONS],
  fromAnthropicResponse: () => [makeAnswer({ content: [], stop_reason: "end_turn" }), OPTIONS],
  fromBedrock: () => [{ messages: [{ role: "user", content: [{ text: "Hi" }] }] }, OPTIONS],
  fromBedrockResponse: () => [{ output: { message: { role: "assistant", content: [] } } }, OPTIONS],
  fromGemini: () => [{ contents: [{ role: "user", parts: [{ text: "Hi" }] }] }, OPTIONS],
  fromGeminiResponse: () => [{ candidates: [{ content: { role: "model", parts: [] } }] }, OPTIONS],
  fromLangChain: () => [[{ type: "human", content: "Hi" }], OPTIONS],
  fromModelMessages: () => [{ messages: [{ role: "user", content: "Hi" }] }, OPTIONS],
  fromModelMessagesResponse: () => [{ steps: [], responseMessages: [] }, OPTIONS],
  fromOpenAIChat: () => [{ messages: [{ role: "user", content: "Hi" }] }, OPTIONS],
  fromOpenAIChatResponse: () => [{ choices: [{ message: makeAnswer({ content: "Yes" }) }] }, OPTIONS],
  fromOpenAIResponses: () => [{ input: [{ role: "user", content: "Hi" }] }, OPTIONS],
  fromOpenAIResponsesResponse: () => [{ output: [] }, OPTIONS],
  fromUIMessages: () => [ui(), OPTIONS],
  generateBranchSummary: () => [entries(), { summarize: SUMMARIZE }],
  getDefaultSessionDir: () => ["/p", "agent"],
  getLastAssistantUsage: () => [entries()],
  getLatestCompactionEntry: () => [entries()],
  importSessions: () => [importOptions()],
  isKnownEntry: () => [entries()[0]],
  isSessionError: () => [new main.SessionError("ABORTED", "x"), "ABORTED"],
  iterateSessions: () => [{ sessionDir: NEVER }],
  listTrashed: () => [{ sessionDir: NEVER }],
  loadChat: () => [session()],
  loadEntriesFromFile: () => [MISSING],
  memoryStore: () => [],
  mergeSessionContents: () => [TEXT, TEXT, {}],
  mergeSessions: () => [MISSING, MISSING, { inPlace: true }],
  migrateDatabase: () => [{ client: POOL }],
  migrateSessionEntries: () => [[copy(HEADER), ...entries()]],
  migrationSql: () => [{ client: POOL, schema: "s" }],
  openPostgresStore: () => ["postgres://localhost:1/x", { tenant: "t" }],
  openSqliteStore: () => [MISSING, {}],
  parseSessionEntries: () => [TEXT],
  planCompaction: () => [entries(), SETTINGS, {}],
  planRetention: () => [[], { olderThanMs: 1 }, 1, []],
  postgresStore: () => [{ client: POOL, tenant: "t" }],
  prepareBranchEntries: () => [entries(), 1, () => 1],
  prepareCompaction: () => [entries(), SETTINGS, {}],
  previewImport: () => [importOptions()],
  projectContextEntry: () => [entries()[0], undefined],
  readSession: () => [TEXT],
  recallServer: () => [{ cwd: "/p" }],
  receiveChat: () => [session(), { id: "c", messages: ui() }, {}],
  redactEverywhere: () => ["secret", { sessionDir: NEVER, dryRun: true }],
  remoteStore: () => [backend(), {}],
  repairSession: () => [MISSING, { isDryRun: true }],
  repairToolPairs: () => [messages(), {}],
  requestAnthropicSummary: () => [session(), OPTIONS],
  requestChanges: () => [session(), IDS.answer, IDS.answer],
  resolveSession: () => ["s1", { sessionDir: NEVER }],
  restoreSession: () => [{ path: MISSING, trashPath: MISSING, infoPath: MISSING }, { to: MISSING }],
  saveChat: () => [session(), ui(), {}],
  searchSessions: () => ["x", { sessionDir: NEVER }],
  secretPatterns: () => ["secret.*"],
  serializeConversation: () => [messages()],
  sessionEntryToContextMessages: () => [entries()[0]],
  sessionStoreSuite: () => [{ test: ignore, factory: () => ({ store: stores.memoryStore() }) }],
  settingsForModel: () => [SETTINGS, { contextWindow: 1 }],
  shouldCompact: () => [1, 1, SETTINGS],
  sourceFolders: () => [{}],
  sqliteStore: () => [{ database: DATABASE }],
  toAcpUpdates: () => [session(), IDS.answer, {}],
  toAnthropic: () => [session(), {}],
  toBedrock: () => [session(), {}],
  toGemini: () => [session(), {}],
  toLangChain: () => [session(), {}],
  toModelMessages: () => [session(), { sdk: 7 }],
  toOpenAIChat: () => [session(), {}],
  toOpenAIResponses: () => [session(), {}],
  toUIMessages: () => [session(), {}],
  validateEntry: () => [entries()[0]],
  validateHeader: () => [HEADER],
};

/** Object with methods, and valid arguments of each method that has parameters. */
export interface ExportedObject {
  readonly make: () => object | Promise<object>;
  readonly args: { readonly [name: string]: MakeArgs };
}

/** Opens a session in a file of its own. */
function fileSession(): main.SessionManager {
  const path = join(mkdtempSync("session-"), "s.jsonl");
  writeFileSync(path, TEXT);
  return SessionManager.open(path);
}

const storeArgs = {
  appendEntries: () => ["s1", entries()],
  close: () => [{ discard: true }],
  create: () => [{ cwd: "/p", id: "new" }],
  delete: () => ["s1"],
  exportBytes: () => ["s1", {}],
  importBytes: () => [pieces(), {}],
  list: () => [{ cwd: "/p" }],
  open: () => ["s1", {}],
  openOrCreate: () => ["s1", { cwd: "/p" }],
  search: () => ["Fix", {}],
};

const filled = async (store: { importBytes(bytes: AsyncIterable<Uint8Array>): Promise<string> }) => {
  await store.importBytes(pieces());
  return store;
};

const CONFIG = { configurable: { thread_id: "t1", checkpoint_ns: "", checkpoint_id: "1" } };

/** Exported classes and objects. The methods of a class are called on an object, and those after a period on the class. */
export const EXPORTED_OBJECTS: { readonly [name: string]: ExportedObject } = {
  "SessionManager.": {
    make: () => SessionManager,
    args: {
      create: () => ["/p", NEVER, {}],
      open: () => [MISSING, NEVER, "/p"],
      openAsync: () => [MISSING, NEVER, "/p"],
      continueRecent: () => ["/p", NEVER],
      openOrCreate: () => ["/p", "s1", NEVER],
      inMemory: () => ["/p", {}, entries()],
      forkFrom: () => [MISSING, "/p", NEVER, {}],
      findById: () => ["/p", "s1", NEVER],
      list: () => ["/p", NEVER, ignore, signal()],
      listAll: () => [NEVER, ignore, signal()],
    },
  },
  SessionManager: {
    make: fileSession,
    args: {
      append: () => [draft(), {}],
      appendAll: () => [[draft()], {}],
      appendCompaction: () => ["Summary", null, 1, {}, false, usage(1)],
      appendContextEdit: () => [IDS.first, null],
      appendCustomEntry: () => ["note", {}],
      appendCustomMessageEntry: () => ["note", "Hi", true, {}],
      appendIfLeaf: () => [draft(), {}],
      appendLabelChange: () => [IDS.first, "label"],
      appendMessage: () => [user("More")],
      appendModelChange: () => ["acme", "m1"],
      appendSessionInfo: () => ["Name"],
      appendThinkingLevelChange: () => ["high"],
      appendUsage: () => ["title", "acme", "m1", usage(1), "note"],
      branch: () => [IDS.first],
      branchWithSummary: () => [null, "Summary", {}, false, usage(1)],
      createBranchedSession: () => [IDS.first],
      discardPartialAnswer: () => [IDS.first],
      fork: () => [{ at: null }],
      getBranch: () => [IDS.first],
      getChildren: () => [IDS.first],
      getCommonAncestorId: () => [IDS.first, IDS.answer],
      getEntry: () => [IDS.first],
      getLabel: () => [IDS.first],
      getOpenToolCalls: () => [IDS.first],
      getPathIds: () => [IDS.first],
      newSession: () => [{}],
      on: () => ["entry_appended", ignore],
      recoverPartialAnswer: () => [IDS.first],
      redactEntry: () => [IDS.first, {}],
      redactText: () => ["secret", {}],
      reportIssue: () => [
        { code: "BAD_LINE", line: 0, offset: 0, length: 0, message: "x", entryId: IDS.first },
      ],
      savePartialAnswer: () => [assistant("Yes"), {}],
      setInstructions: () => ["Be brief."],
      setSessionFile: () => [MISSING],
      walk: () => [IDS.first, {}],
      walkUp: () => [{ type: "message" }],
      watch: () => [{ signal: signal() }],
    },
  },
  SessionError: { make: () => new main.SessionError("ABORTED", "x"), args: {} },
  EntryType: {
    make: () => main.defineEntryType("note", Object.assign(JSON.parse("{}"), SCHEMA)),
    args: { append: () => [session(), {}], latest: () => [session(), {}], all: () => [session(), {}] },
  },
  SessionHooks: {
    make: () => new controller.SessionHooks(),
    args: { on: () => ["session_start", ignore], emit: () => ["session_start", {}, signal()] },
  },
  SessionController: {
    make: () => new controller.SessionController({ session: fileSession() }),
    args: {
      compact: () => [{ settings: SETTINGS, summarize: SUMMARIZE }],
      compactIfNeeded: () => [{ contextWindow: 1, summarize: SUMMARIZE }],
      exportJsonl: () => ["exported.jsonl"],
      fork: () => [IDS.first, {}],
      getStats: () => [{}],
      navigateTree: () => [IDS.first, {}],
      newSession: () => [{}],
      setName: () => ["Name"],
      switchSession: () => [MISSING, {}],
    },
  },
  AcpRecorder: {
    make: () => new adapters.AcpRecorder(SessionManager.inMemory(), OPTIONS),
    args: {
      add: () => [{ sessionUpdate: "user_message_chunk", content: { type: "text", text: "Hi" } }],
      end: () => ["end_turn"],
    },
  },
  acpSessions: {
    make: () => adapters.acpSessions,
    args: {
      new: () => [stores.memoryStore(), { cwd: "/p" }],
      list: () => [stores.memoryStore(), { cwd: "/p" }, {}],
      fork: () => [stores.memoryStore(), { sessionId: "s1", cwd: "/p" }],
      delete: () => [stores.memoryStore(), { sessionId: "s1" }],
    },
  },
  OpenAIAgentsSession: {
    make: () => new adapters.OpenAIAgentsSession(SessionManager.inMemory()),
    args: {
      getItems: () => [1, {}],
      addItems: () => [[{ role: "user", content: "Hi" }], {}],
      replaceHistoryWithCompaction: () => [[{ type: "compaction", encrypted_content: "x" }], {}],
      applyHistoryTransaction: () => [
        {
          operationId: "o1",
          transaction: { type: "append_items", items: [{ role: "user", content: "Hi" }] },
        },
        {},
      ],
      applyHistoryMutations: () => [{ mutations: [] }],
    },
  },
  claudeSessionStore: {
    make: () => adapters.claudeSessionStore(stores.memoryStore()),
    args: {
      append: () => [{ projectKey: "p", sessionId: "s" }, [{ type: "user", uuid: "u" }]],
      load: () => [{ projectKey: "p", sessionId: "s" }],
      listSessions: () => ["p"],
      delete: () => [{ projectKey: "p", sessionId: "s" }],
      listSubkeys: () => [{ projectKey: "p", sessionId: "s" }],
    },
  },
  SessionTreeChatHistory: {
    make: () => new langgraph.SessionTreeChatHistory(SessionManager.inMemory()),
    args: {
      addMessage: () => [new HumanMessage("Hi")],
      addMessages: () => [[new HumanMessage("Hi")]],
    },
  },
  SessionTreeSaver: {
    make: () => new langgraph.SessionTreeSaver(stores.memoryStore()),
    args: {
      deleteThread: () => ["t1"],
      getTuple: () => [CONFIG],
      issuesOf: () => ["t1"],
      list: () => [CONFIG, {}],
      put: () => [CONFIG, emptyCheckpoint(), { source: "input", step: -1, parents: {} }, {}],
      putWrites: () => [CONFIG, [["a", 1]], "task", ""],
      sessionIdOf: () => ["t1"],
    },
  },
  backendKit: {
    make: () => stores.backendKit,
    args: {
      factsAfter: () => [{ id: "s1" }, []],
      selectSessions: () => [[], {}],
      sessionExists: () => ["s1"],
      sessionNotFound: () => ["s1"],
      staleLeaf: () => [null, null],
      writesLost: () => ["s1"],
    },
  },
  memoryStore: { make: () => filled(stores.memoryStore()), args: { ...storeArgs, listUsage: () => [{}] } },
  fileStore: { make: () => filled(stores.fileStore({ sessionDir: mkdtempSync("store-") })), args: storeArgs },
  ...Object.fromEntries(
    Object.entries(imports.importers).map(([name, importer]) => [
      `importers.${name}`,
      {
        make: () => importer,
        args: { ...("read" in importer && { read: () => [TEXT] }), convert: () => [record()] },
      },
    ]),
  ),
};

/** Valid arguments of the constructors. */
export const CONSTRUCTOR_ARGS: { readonly [name: string]: MakeArgs } = {
  SessionHooks: () => [{}],
  SessionController: () => [{ session: session() }],
  SessionError: () => ["ABORTED", "x", {}],
  AcpRecorder: () => [session(), OPTIONS],
  OpenAIAgentsSession: () => [session(), {}],
  SessionTreeChatHistory: () => [session()],
  SessionTreeSaver: () => [stores.memoryStore(), {}],
};
