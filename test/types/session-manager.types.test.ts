import { type ReadonlySessionManager, type SessionEntry, SessionManager } from "sessiontree";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineEntryType, type StateSession } from "../../src/session/manager/extension-state.ts";
import type { MutuallyAssignable } from "./support/equal.ts";
import type * as Pi from "./support/pi-types.ts";

// Type expectations fail in the compiler (`npm run types`), not at run time.

/** Members of a session that an extension of pi may use. */
interface PiReadonlySessionManager {
  getCwd(): string;
  getSessionDir(): string;
  getSessionId(): string;
  getSessionFile(): string | undefined;
  getLeafId(): string | null;
  getLeafEntry(): Pi.SessionEntry | undefined;
  getEntry(id: string): Pi.SessionEntry | undefined;
  getLabel(id: string): string | undefined;
  getBranch(fromId?: string): Pi.SessionEntry[];
  buildContextEntries(): Pi.SessionEntry[];
  buildSessionProjection(): Pi.SessionProjection;
  getHeader(): Pi.SessionHeader | null;
  getEntries(): Pi.SessionEntry[];
  getTree(): Pi.SessionTreeNode[];
  getSessionName(): string | undefined;
}

/** Session operations of a runtime written against pi. */
interface PiSessionManager extends PiReadonlySessionManager {
  usesDefaultSessionDir(): boolean;
  isPersisted(): boolean;
  getEntryCount(): number;
  getChildren(id: string | null): Pi.SessionEntry[];
  buildSessionContext(): Pi.SessionContext;
  newSession(options?: Pi.NewSessionOptions): string | undefined;
  setSessionFile(path: string): void;
  appendMessage(message: Pi.Message | Pi.CustomMessage | Pi.BashExecutionMessage): string;
  appendThinkingLevelChange(level: string): string;
  appendModelChange(provider: string, modelId: string): string;
  appendUsage(kind: string, provider: string, model: string, usage: Pi.Usage, note?: string): Pi.UsageEntry;
  appendCompaction<T = unknown>(
    summary: string,
    firstKeptEntryId: string | null,
    tokensBefore: number,
    details?: T,
    fromHook?: boolean,
    usage?: Pi.Usage,
  ): string;
  appendCustomEntry(customType: string, data?: unknown): string;
  appendCustomMessageEntry<T = unknown>(
    customType: string,
    content: string | (Pi.TextContent | Pi.ImageContent)[],
    display: boolean,
    details?: T,
  ): string;
  appendSessionInfo(name: string): string;
  appendLabelChange(targetId: string, label: string | undefined): string;
  appendContextEdit(targetId: string, replacement: null | { content: Pi.ContextEditableContent }): string;
  branch(id: string): void;
  resetLeaf(): void;
  branchWithSummary(
    id: string | null,
    summary: string,
    details?: unknown,
    fromHook?: boolean,
    usage?: Pi.Usage,
  ): string;
  createBranchedSession(leafId: string): string | undefined;
}

/** Static members with which a runtime written against pi creates and finds sessions. */
interface PiSessionManagerClass {
  create(cwd: string, sessionDir?: string, options?: Pi.NewSessionOptions): PiSessionManager;
  open(path: string, sessionDir?: string, cwdOverride?: string): PiSessionManager;
  continueRecent(cwd: string, sessionDir?: string): PiSessionManager;
  inMemory(cwd?: string, options?: Pi.NewSessionOptions, entries?: Pi.FileEntry[]): PiSessionManager;
  forkFrom(
    sourcePath: string,
    targetCwd: string,
    sessionDir?: string,
    options?: Pi.NewSessionOptions,
  ): PiSessionManager;
  findById(cwd: string, id: string, sessionDir?: string): string | undefined;
  list(
    cwd: string,
    sessionDir?: string,
    onProgress?: Pi.SessionListProgress,
    signal?: AbortSignal,
  ): Promise<Pi.SessionInfo[]>;
  listAll(onProgress?: Pi.SessionListProgress, signal?: AbortSignal): Promise<Pi.SessionInfo[]>;
  listAll(
    sessionDir?: string,
    onProgress?: Pi.SessionListProgress,
    signal?: AbortSignal,
  ): Promise<Pi.SessionInfo[]>;
}

describe("our SessionManager is assignable to pi's", () => {
  test("as a whole, its statics included", () => {
    expectTypeOf<SessionManager>().toExtend<PiSessionManager>();
    expectTypeOf<typeof SessionManager>().toExtend<PiSessionManagerClass>();
  });

  test("read-only, both ways", () => {
    expectTypeOf<
      MutuallyAssignable<ReadonlySessionManager, PiReadonlySessionManager>
    >().toEqualTypeOf<true>();
    expectTypeOf<SessionManager>().toExtend<ReadonlySessionManager>();
    expectTypeOf<keyof ReadonlySessionManager>().toEqualTypeOf<keyof PiReadonlySessionManager>();
  });

  test("as an argument for a parameter with a Pick of it", () => {
    type Wanted = Pick<
      SessionManager,
      | "getCwd"
      | "getSessionDir"
      | "getSessionId"
      | "getSessionFile"
      | "getLeafId"
      | "getLeafEntry"
      | "getEntry"
      | "getLabel"
      | "getBranch"
      | "buildContextEntries"
      | "buildSessionProjection"
      | "getHeader"
      | "getEntries"
      | "getTree"
      | "getSessionName"
    >;
    expectTypeOf<SessionManager>().toExtend<Wanted>();
    expectTypeOf<MutuallyAssignable<Wanted, PiReadonlySessionManager>>().toEqualTypeOf<true>();
  });

  test("in the rows of session lists", () => {
    type Info = Awaited<ReturnType<typeof SessionManager.list>>[number];
    type Progress = NonNullable<Parameters<typeof SessionManager.list>[2]>;
    expectTypeOf<MutuallyAssignable<Info, Pi.SessionInfo>>().toEqualTypeOf<true>();
    expectTypeOf<MutuallyAssignable<Progress, Pi.SessionListProgress>>().toEqualTypeOf<true>();
  });

  test("and a member of another type would be detected", () => {
    type OtherLeaf = Omit<PiReadonlySessionManager, "getLeafId"> & { getLeafId(): string };
    expectTypeOf<MutuallyAssignable<ReadonlySessionManager, OtherLeaf>>().toEqualTypeOf<false>();
    type OtherStatics = Omit<typeof SessionManager, "findById">;
    expectTypeOf<OtherStatics>().not.toExtend<PiSessionManagerClass>();
  });
});

describe("an extension written against pi", () => {
  /** Labels every answer that stopped for length. */
  function labelCutAnswers(session: PiSessionManager): string[] {
    const cut = session.getBranch().filter((entry) => {
      return (
        entry.type === "message" &&
        entry.message.role === "assistant" &&
        entry.message.stopReason === "length"
      );
    });
    return cut.map((entry) => session.appendLabelChange(entry.id, "cut short"));
  }

  test("runs on ours and returns what it created to ours", () => {
    const pi: PiSessionManagerClass = SessionManager;
    const session = pi.inMemory("/work", { id: "s-1" });
    const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
    const answer: Pi.AssistantMessage = {
      role: "assistant",
      content: [{ type: "text", text: "half a" }],
      api: "a",
      provider: "p",
      model: "m",
      usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: zero },
      stopReason: "length",
      timestamp: 1,
    };
    session.appendMessage({ role: "user", content: "hi", timestamp: 0 });
    const id = session.appendMessage(answer);
    const [label] = labelCutAnswers(session);
    const entries: SessionEntry[] = session.getEntries();
    expect(entries.at(-1)).toMatchObject({ id: label, type: "label", targetId: id, label: "cut short" });
    expect(session.getLabel(id)).toBe("cut short");
  });
});

test("our SessionManager is all that extension state needs", () => {
  expectTypeOf<SessionManager>().toExtend<StateSession>();
  expectTypeOf<ReadonlySessionManager>().toExtend<StateSession>();
  expectTypeOf<PiReadonlySessionManager>().toExtend<StateSession>();
  const todo = defineEntryType("todo", z.object({ open: z.array(z.string()) }));
  const session = SessionManager.inMemory("/work");
  todo.append(session, { open: ["test"] });
  const bad = session.appendCustomEntry("todo", { open: "test" });
  const worse = session.appendCustomEntry("todo", { open: "test" });
  expect(todo.latest(session)).toEqual({ open: ["test"] });
  expect(todo.all(session)).toEqual([{ open: ["test"] }]);
  const found = session.issues.map(({ code, entryId }) => ({ code, entryId }));
  expect(found).toEqual([
    { code: "STATE_INVALID", entryId: worse },
    { code: "STATE_INVALID", entryId: bad },
  ]);
});
