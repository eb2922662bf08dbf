import assert from "node:assert/strict";
import { isSessionError, type SessionErrorCode } from "../../core/format/errors.ts";
import type { UserMessage } from "../../core/format/message.ts";
import type { SessionManager } from "../../session/manager/session-manager.ts";
import type { SessionBackend } from "../contract/session-backend.ts";
import type { SessionStore } from "../contract/session-store.ts";

/** Simulates network failures of calls to a store's backend. */
export interface StoreFaults {
  /** Makes the next calls fail before anything is done. */
  failNext(count: number): void;
  /** Executes the next calls but loses their responses. */
  loseAnswers(count: number): void;
  /** Acknowledges the next appends but loses them, like a failover to a standby with an outdated copy. */
  loseWrites(count: number): void;
}

/** Store to test, with the parts that the tests require. */
export interface StoreUnderTest {
  /** Store without any sessions. */
  readonly store: SessionStore;
  /** Creates another store for the same sessions, as in another process. */
  readonly another?: () => SessionStore | Promise<SessionStore>;
  /** Store's backend, if the store uses one. */
  readonly backend?: SessionBackend;
  readonly faults?: StoreFaults;
  /** Releases all resources after the test. */
  readonly dispose?: () => void | Promise<void>;
}

/** Parts that a store under test may lack. */
export type StorePart = "another" | "backend" | "faults";

/** Test in the suite. */
export interface SuiteTest {
  readonly name: string;
  /** Parts that the test requires. */
  readonly needs: readonly StorePart[];
  readonly run: (under: PartsUnderTest) => Promise<void>;
}

/** Returns a function that creates tests that require the given parts. */
export function testWith(...needs: StorePart[]) {
  return (name: string, run: SuiteTest["run"]): SuiteTest => ({ name, needs, run });
}

/** Store under test with all parts. */
export type PartsUnderTest = Required<Omit<StoreUnderTest, "dispose">>;

/** Working directory of most sessions in the suite. */
export const CWD = "/projects/suite";

/** Base time of the suite, in Unix milliseconds. */
export const START_MS = Date.parse("2026-03-01T12:00:00.000Z");

/** Creates a user message. */
export function user(content: string, timestamp = START_MS): UserMessage {
  return { role: "user", content, timestamp };
}

/** Appends user messages and returns the ids of their entries. */
export function say(session: SessionManager, ...texts: readonly string[]): string[] {
  return texts.map((text) => session.appendMessage(user(text)));
}

/** Creates a session with messages and waits until it is stored. */
export async function makeStored(store: SessionStore, ...texts: readonly string[]): Promise<SessionManager> {
  const session = store.create({ cwd: CWD });
  say(session, ...texts);
  await session.flush();
  return session;
}

/** Returns the ids of all entries, in order. */
export function getIds(session: SessionManager): string[] {
  return session.getEntries().map(({ id }) => id);
}

/** Collects all yielded items. */
export async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** Returns the bytes of a session as a string with one character per byte. */
export async function exportText(store: SessionStore, id: string): Promise<string> {
  let text = "";
  for await (const piece of store.exportBytes(id)) text += Buffer.from(piece).toString("latin1");
  return text;
}

/** Splits bytes into pieces of a given size. */
export async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

/** Returns a header line without a line break. */
export function makeHeaderLine(id: string, version = 3): string {
  const timestamp = new Date(START_MS).toISOString();
  return JSON.stringify({ type: "session", version, id, timestamp, cwd: CWD });
}

/** Returns the line of a message entry without a line break. */
export function makeEntryText(id: string, parentId: string | null, text: string, ms = START_MS): string {
  const timestamp = new Date(ms).toISOString();
  return JSON.stringify({ type: "message", id, parentId, timestamp, message: user(text, ms) });
}

/** Asserts that a call fails with a `SessionError` that has the given code. */
export async function expectError(code: SessionErrorCode, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isSessionError(error)) throw error;
    assert.equal(error.code, code, error.message);
    return;
  }
  assert.fail(`expected ${code}, but nothing was thrown`);
}

/** Asserts that a session is complete: every parent exists and precedes its children, ids are unique, and there are no issues. */
export function assertWhole(session: SessionManager): void {
  const seen = new Set<string>();
  for (const { id, parentId } of session.getEntries()) {
    assert.ok(parentId === null || seen.has(parentId), `${id} comes before its parent ${parentId}`);
    assert.ok(!seen.has(id), `${id} occurs twice`);
    seen.add(id);
  }
  assert.deepEqual(session.issues, []);
}

/**
 * Reopens a session, and asserts that it is complete and that all sessions in `open` have the same entries in the
 * same order.
 */
export async function reopen(
  store: SessionStore,
  ...open: readonly [SessionManager, ...SessionManager[]]
): Promise<SessionManager> {
  const fresh = await store.open(open[0].getSessionId());
  assertWhole(fresh);
  for (const one of open) {
    assert.deepEqual(getIds(one), getIds(fresh));
    assertWhole(one);
  }
  return fresh;
}

/** Maximum time for an event that must arrive without polling, in milliseconds. */
const SOON_MS = 10_000;

/** Waits for an event. Fails if it does not arrive in time. */
export async function waitSoon<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new assert.AssertionError({ message: `${what} in ${SOON_MS} ms` })),
      SOON_MS,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
