import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  convertToLlm,
  DEFAULT_COMPACTION_SETTINGS,
  planCompaction,
  repairSession,
  SessionManager,
} from "sessiontree";
import {
  deleteSession,
  iterateSessions,
  listTrashed,
  mergeSessions,
  planRetention,
  resolveSession,
  restoreSession,
  searchSessions,
} from "sessiontree/catalog";
import { SessionController } from "sessiontree/controller";
import { continueIn, importSessions, previewImport } from "sessiontree/import";
import { deleteSessionsBefore, deleteTenant } from "sessiontree/postgres";
import { fileStore, redactEverywhere, remoteStore } from "sessiontree/stores";
import { afterAll, describe, expect, test } from "vitest";
import { listSessions } from "../../src/catalog/list/list-sessions.ts";
import { MemoryBackend } from "../../src/stores/remote/memory-backend.ts";
import { user } from "../fault/support/sessions.ts";
import { removeFolder } from "../support/remove-folder.ts";

const folder = mkdtempSync(join(tmpdir(), "sessiontree-options-"));

afterAll(() => removeFolder(folder));

/** Options that an untyped program may pass. */
// biome-ignore lint/suspicious/noExplicitAny: wrong options are the subject
type Wrong = any;

const session = SessionManager.create("/project", { sessionDir: folder });
const first = session.appendMessage(user("one"));
const path = session.getSessionFile() ?? "";
const store = remoteStore(new MemoryBackend());

const all = async (values: AsyncIterable<unknown>) => {
  for await (const _ of values);
};

/** Public functions that accept options, with wrong values. */
const CALLS: readonly [name: string, call: (options: Wrong) => unknown, wrong: Record<string, unknown[]>][] =
  [
    [
      "SessionManager.create",
      (options) => SessionManager.create("/project", { sessionDir: folder, ...options }),
      {
        lease: ["off", true, null, 1],
        leaseWaitMs: [Number.NaN, -1, "100"],
        durability: ["disk", true],
        mode: ["readonly", "r"],
        maxLineBytes: [Number.NaN, 0, "1"],
        createAtOnce: ["no", 0],
        persistLeafOnClose: ["yes"],
        beforePersist: [{}],
        now: [5],
        sessionDir: [5],
        cwd: [{}],
        agentDir: [7],
        fs: ["fs"],
      },
    ],
    [
      "SessionManager.create, of the new session",
      (options) => SessionManager.create("/project", folder, options),
      { parentSession: [{}] },
    ],
    [
      "SessionManager.open",
      (options) => SessionManager.open(path, options),
      { lease: ["off"], leaseWaitMs: [Number.NaN] },
    ],
    [
      "SessionManager.load",
      (options) => SessionManager.openAsync(path, options),
      { durability: ["no"], signal: [{}, "stop"], onProgress: [1] },
    ],
    [
      "SessionManager.inMemory",
      (options) => SessionManager.inMemory("/project", options),
      { now: [1], beforePersist: ["x"] },
    ],
    ["SessionManager.list", (options) => SessionManager.list("/project", options), { agentDir: [1] }],
    ["newSession", (options) => SessionManager.inMemory().newSession(options), { parentSession: [1] }],
    [
      "listSessions",
      (options) => listSessions(options),
      {
        cache: ["no"],
        cacheDir: [1],
        onSkipped: [[]],
        onProgress: ["x"],
        signal: [true],
        places: ["x", { agentDir: 1 }],
      },
    ],
    [
      "iterateSessions",
      (options) => all(iterateSessions({ sessionDir: folder, ...options })),
      { limit: [Number.NaN, "1"], query: [1] },
    ],
    [
      "searchSessions",
      (options) => searchSessions("x", options),
      { limit: [Number.NaN], roles: ["user", [1]], regex: ["yes"], latestFirst: ["no"] },
    ],
    ["resolveSession", (options) => resolveSession("x", options), { sessionDir: [1] }],
    ["deleteSession", (options) => deleteSession(path, options), { permanent: ["no"], force: ["false"] }],
    ["listTrashed", (options) => listTrashed(options), { folders: ["/tmp"] }],
    [
      "restoreSession",
      (options) => restoreSession({ path, trashPath: path, infoPath: path }, options),
      { to: [1] },
    ],
    [
      "planRetention",
      (options) => planRetention([], { olderThanMs: 1, ...options }, 1),
      { olderThanMs: [Number.NaN, -1, "1"], keepNamed: ["no"] },
    ],
    ["repairSession", (options) => repairSession(path, options), { isDryRun: ["no", 1] }],
    [
      "mergeSessions",
      (options) => mergeSessions(path, path, { inPlace: true, ...options }),
      { inPlace: [false, "yes", undefined], to: [join(folder, "x")], allowDifferentIds: ["no"] },
    ],
    ["convertToLlm", (options) => convertToLlm([], options), { repairToolPairs: ["no", 1] }],
    [
      "planCompaction",
      (options) => planCompaction(session.getBranch(), { ...DEFAULT_COMPACTION_SETTINGS, ...options }),
      {
        reserveTokens: [Number.NaN, "1"],
        keepRecentTokens: [-1],
        enabled: [0],
        models: [{ "a/b": { reserveTokens: Number.NaN } }],
      },
    ],
    ["fileStore", (options) => fileStore(options), { lease: ["off"], deletesForGood: ["no"] }],
    [
      "remoteStore",
      (options) => remoteStore(new MemoryBackend(), options),
      {
        pollMs: [Number.NaN, 0],
        maxQueueBytes: [Number.NaN],
        maxQueueEntries: ["1"],
        minRetryMs: [Number.NaN],
        maxRetryMs: [-1],
        giveUpAfterMs: [Number.NaN],
      },
    ],
    ...[store, fileStore({ sessionDir: folder })].flatMap((one, i): typeof CALLS => [
      [
        `create of store ${i}`,
        (options) => one.create({ cwd: "/project", ...options }),
        { cwd: [1], createAtOnce: ["no"] },
      ],
      [
        `open of store ${i}`,
        (options) => one.open(session.getSessionId(), options),
        { mode: ["r"], signal: [1] },
      ],
      [
        `list of store ${i}`,
        (options) => all(one.list(options)),
        { limit: [Number.NaN], name: [1], after: ["x"] },
      ],
      [
        `search of store ${i}`,
        (options) => all(one.search("x", options)),
        { limit: [Number.NaN], roles: ["user"] },
      ],
    ]),
    [
      "SessionController",
      (options) => new SessionController({ session, ...options }),
      { settings: [{ ...DEFAULT_COMPACTION_SETTINGS, reserveTokens: Number.NaN }] },
    ],
    [
      "compact",
      (options) => new SessionController({ session }).compact(options),
      { instructions: [1], contextWindow: [Number.NaN], signal: [1] },
    ],
    [
      "compactIfNeeded",
      (options) => new SessionController({ session }).compactIfNeeded({ contextWindow: 1, ...options }),
      {
        contextWindow: [Number.NaN, undefined, "1"],
        reason: ["full"],
        overheadTokens: [-1],
        onSummaryFailure: ["retry"],
      },
    ],
    [
      "navigateTree",
      (options) => new SessionController({ session }).navigateTree(first, options),
      { summarize: ["no"], label: [1] },
    ],
    ["fork", (options) => new SessionController({ session }).fork(first, options), { position: ["after"] }],
    [
      "getStats",
      (options) => new SessionController({ session }).getStats(options),
      { contextWindow: [Number.NaN], includeInherited: ["no"] },
    ],
    [
      "switchSession",
      (options) => new SessionController({ session }).switchSession(path, options),
      { cwd: [1] },
    ],
  ];

describe.each(CALLS)("%s", (_name, call, wrong) => {
  const cases = Object.entries(wrong).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );

  test.each(cases)("rejects %s: %j, and names the allowed values", async (name, value) => {
    const refused = expect((async () => call({ [name]: value }))()).rejects;
    await refused.toThrow(TypeError);
    await refused.toThrow(/ must be (?:"|a |an |true)|^Specify the target|needs a contextWindow/);
  });
});

test("an error names all allowed values", () => {
  const open = (options: Wrong) => () => SessionManager.open(path, options);
  expect(open({ lease: "off" })).toThrow(
    'The option lease must be "none", "fail", "read-only" or "wait", but is "off".',
  );
  expect(open({ leaseWaitMs: Number.NaN })).toThrow(
    "The option leaseWaitMs must be a number of milliseconds, 0 or more, but is NaN.",
  );
  expect(open({ cwd: ["a"] })).toThrow("The option cwd must be a string, but is an array.");
  expect(open({ cwd: Symbol("a") })).toThrow("but is a symbol.");
  expect(open({ mode: "x".repeat(50) })).toThrow("but is a longer string.");
  expect(() => listSessions(Object(null))).not.toThrow();
});

/** Functions that write or delete, with an option that they do not have and the one that was meant. */
const WRITERS: readonly [name: string, call: (options: Wrong) => unknown, unknown: string, meant: string][] =
  [
    [
      "importSessions",
      (options) => all(importSessions({ paths: [], ...options })),
      "session_dir",
      "sessionDir",
    ],
    ["previewImport", (options) => previewImport({ paths: [], ...options }), "sessionsDir", "sessionDir"],
    ["continueIn", (options) => continueIn("pi", session, options), "isDryRun", "dryRun"],
    ["fileStore", (options) => fileStore(options), "sessionsDir", "sessionDir"],
    [
      "redactEverywhere",
      (options) => redactEverywhere("x", { sessionDir: folder, ...options }),
      "dryrun",
      "dryRun",
    ],
    ["redactText", (options) => session.redactText("x", options), "isDryRun", "dryRun"],
    ["repairSession", (options) => repairSession(path, options), "dryRun", "isDryRun"],
    ["deleteSession", (options) => deleteSession(path, options), "isPermanent", "permanent"],
    [
      "restoreSession",
      (options) => restoreSession({ path, trashPath: path, infoPath: path }, options),
      "To",
      "to",
    ],
    [
      "planRetention",
      (options) => planRetention([], { olderThanMs: 1, ...options }, 1),
      "keepnamed",
      "keepNamed",
    ],
    [
      "mergeSessions",
      (options) => mergeSessions(path, path, { inPlace: true, ...options }),
      "allowDifferentId",
      "allowDifferentIds",
    ],
    ["deleteTenant", (options) => deleteTenant({ tenant: "a", ...options }), "batchsize", "batchSize"],
    [
      "deleteSessionsBefore",
      (options) => deleteSessionsBefore({ before: new Date(0), ...options }),
      "tenants",
      "tenant",
    ],
  ];

test.each(WRITERS)(
  "%s, which writes or deletes, rejects an unknown option",
  async (_name, call, unknown, meant) => {
    const refused = expect((async () => call({ [unknown]: "./s3" }))()).rejects;
    await refused.toThrow(TypeError);
    await refused.toThrow(`Unknown option "${unknown}"; did you mean "${meant}"? The options are "`);
  },
);

test.each([
  [
    "create",
    (options: Wrong) => SessionManager.create("/project", { agentDir: folder, ...options }),
    "sessionsDir",
    "sessionDir",
  ],
  ["open", (options: Wrong) => SessionManager.open(path, options), "durabilty", "durability"],
  [
    "continueRecent",
    (options: Wrong) => SessionManager.continueRecent("/project", { agentDir: folder, ...options }),
    "session_dir",
    "sessionDir",
  ],
] as const)("SessionManager.%s rejects a misspelled option", (_name, call, misspelled, meant) => {
  const refused = expect(() => call({ [misspelled]: folder }));
  refused.toThrow(TypeError);
  refused.toThrow(`Unknown option "${misspelled}"; did you mean "${meant}"?`);
});

test("options of other functions are not misspellings, although their names are similar", () => {
  for (const name of ["model", "code", "cmd", "release", "sessionId", "agentId", "maxFileBytes"])
    expect(SessionManager.open(path, { [name]: "x" } satisfies Wrong).getEntryCount(), name).toBe(1);
  const both: Wrong = { agentDir: folder, agentsDir: folder };
  expect(SessionManager.open(path, both).getEntryCount()).toBe(1);
});

test("missing options, and unknown options of other functions, are ignored", () => {
  const options: Wrong = {
    lease: undefined,
    durability: undefined,
    signal: undefined,
    ofTomorrow: Number.NaN,
  };
  expect(SessionManager.open(path, options).getEntryCount()).toBe(1);
});
