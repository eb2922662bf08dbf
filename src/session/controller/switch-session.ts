import { realpathSync, statSync } from "node:fs";
import { getTexts } from "../../core/context/content-text.ts";
import { SessionError } from "../../core/format/errors.ts";
import { assertOptions, makeChoiceRule, SIGNAL, TEXT } from "../../core/format/options.ts";
import { callIfPresent } from "../fs/file-system.ts";
import { toAbsolutePath } from "../log/session-paths.ts";
import { sessionNotFound } from "../manager/open-session.ts";
import { loadSessionBeside, newSessionBeside, type SessionManager } from "../manager/session-manager.ts";
import type { NewSessionOptions } from "../manager/session-options.ts";
import { type ControllerHost, requireEntry } from "./controller-host.ts";
import type { SessionHookEvents } from "./hook-events.ts";

/** Options for switching to another session. */
export interface SwitchSessionOptions {
  /** Working directory to use instead of the session's, for example if that folder no longer exists. */
  readonly cwd?: string | undefined;
  /** Signal that stops reading the file with an `ABORTED` error. The current session is then kept. */
  readonly signal?: AbortSignal | undefined;
}

/** Result of a command that switches sessions. */
export interface SwitchResult {
  /** Whether a handler canceled the switch. The current session is then kept. */
  cancelled: boolean;
  /** Path of the current session; absent in memory. */
  sessionFile?: string;
}

/** Creates a new session and switches to it. See `SessionController.newSession`. */
export async function newSession(host: ControllerHost, options: NewSessionOptions): Promise<SwitchResult> {
  const from = host.current.session;
  if (await isCancelled(host, "session_before_switch", { reason: "new" })) return { cancelled: true };
  return goTo(host, "new", from, newSessionBeside(from, options));
}

/** Switches to the session in a file; see `SessionController.switchSession`. */
export async function switchSession(
  host: ControllerHost,
  path: string,
  options: SwitchSessionOptions,
): Promise<SwitchResult> {
  assertOptions(options, { cwd: TEXT, signal: SIGNAL });
  const { cwd, signal } = options;
  const { current } = host;
  const from = current.session;
  const findTarget = () => (from.isInStore ? path : requireFile(toAbsolutePath(path)));
  const target = findTarget();
  const event = { reason: "resume", targetSessionFile: target } as const;
  if (await isCancelled(host, "session_before_switch", event)) return { cancelled: true };
  // The file may have been removed in the meantime. It would then be opened as a new session.
  findTarget();
  const load = () =>
    loadSessionBeside(from, target, { ...(cwd !== undefined && { cwd }), ...(signal && { signal }) });
  if (isSameSessionFile(target, from.getSessionFile())) {
    assertFolder(cwd ?? from.getCwd(), target, from);
    await current.replace({ reason: "resume", from, path: target, open: load });
    return { cancelled: false, sessionFile: target };
  }
  const next = await load();
  await checkOrClose(next, () => assertFolder(next.getCwd(), target, from));
  return goTo(host, "resume", from, next);
}

/**
 * Calls the handlers and returns whether one of them canceled the switch. Throws `STALE_LEAF` if the session was already being
 * left, or was left while the handlers ran.
 */
async function isCancelled<Name extends "session_before_switch" | "session_before_fork">(
  { current, hooks }: ControllerHost,
  name: Name,
  event: SessionHookEvents[Name],
): Promise<boolean> {
  const from = current.session;
  current.assertNotLeft(from);
  const answer = await hooks.emit(name, event);
  if (answer?.cancel === true) return true;
  current.assertNotLeft(from);
  return false;
}

/** Replaces the current session with one that is already open. */
async function goTo(
  { current }: ControllerHost,
  reason: "new" | "resume" | "fork",
  from: SessionManager,
  next: SessionManager,
): Promise<SwitchResult> {
  const path = next.getSessionFile();
  await checkOrClose(next, () => current.assertNotLeft(from));
  await current.replace({ reason, from, path, open: () => next });
  return { cancelled: false, ...(path !== undefined && { sessionFile: path }) };
}

/** Runs a check, and closes the session if the check throws. */
async function checkOrClose(session: SessionManager, check: () => void): Promise<void> {
  try {
    check();
  } catch (error) {
    await session.close();
    throw error;
  }
}

function requireFile(path: string): string {
  if (callIfPresent(() => statSync(path)) !== undefined) return path;
  throw sessionNotFound(path);
}

function isSameSessionFile(path: string, other: string | undefined): boolean {
  const real = other === undefined ? undefined : callIfPresent(() => realpathSync(other));
  return real !== undefined && real === callIfPresent(() => realpathSync(path));
}

function assertFolder(cwd: string, sessionFile: string, from: SessionManager): void {
  if (callIfPresent(() => statSync(cwd))?.isDirectory()) return;
  const message = `The session's working directory is ${cwd}, which does not exist; continue elsewhere with switchSession(path, { cwd }).`;
  throw new SessionError("CWD_MISSING", message, {
    details: { sessionFile, sessionCwd: cwd, fallbackCwd: from.getCwd() },
  });
}

/** Result of a fork. */
export interface ForkResult extends SwitchResult {
  /** Text of the user message that follows the end of the fork, for editing and resending. */
  selectedText?: string;
}

/** End of the fork's path, and the text for the user to continue with. */
interface ForkPoint {
  /** Id of the last entry to copy; null for the position before the first entry. */
  readonly leafId: string | null;
  readonly selectedText?: string;
}

/** Copies the path up to an entry to a new session and switches to it. See `SessionController.fork`. */
export async function forkEntry(
  host: ControllerHost,
  entryId: string,
  options: { readonly position?: "before" | "at" | undefined },
): Promise<ForkResult> {
  assertOptions(options, { position: makeChoiceRule("before", "at") });
  const { position = "before" } = options;
  const from = host.current.session;
  const { leafId, selectedText } = forkPoint(from, entryId, position);
  if (await isCancelled(host, "session_before_fork", { entryId, position })) return { cancelled: true };
  const next = from.fork({ at: leafId });
  if (!next.isPersisted()) host.copied.set(next, new Set(next.getPathIds()));
  const result = await goTo(host, "fork", from, next);
  return { ...result, ...(selectedText !== undefined && { selectedText }) };
}

function forkPoint(session: SessionManager, entryId: string, position: "before" | "at"): ForkPoint {
  const entry = requireEntry(session, entryId);
  if (position === "at") return { leafId: entryId };
  if (entry.type !== "message" || entry.message.role !== "user") {
    const message = `Entry ${entryId} is not a user message, so there is nothing to edit; fork with { position: "at" }.`;
    throw new SessionError("ENTRY_INVALID", message, { details: { entryId } });
  }
  return { leafId: entry.parentId, selectedText: getTexts(entry.message.content).join("") };
}
