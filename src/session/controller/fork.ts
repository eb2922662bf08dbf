import { textsOf } from "../../core/context/content-text.ts";
import { SessionError } from "../../core/format/errors.ts";
import { assertOptions, choice } from "../../core/format/options.ts";
import type { SessionManager } from "../manager/session-manager.ts";
import { type ControllerHost, requireEntry } from "./controller-host.ts";
import { goTo, isCancelled, type SwitchResult } from "./switch-session.ts";

/** Where a fork ends. */
export interface ForkOptions {
  /** `before` (default): before a user message, to be edited and sent again. `at`: with the entry. */
  readonly position?: "before" | "at" | undefined;
}

/** The result of a fork. */
export interface ForkResult extends SwitchResult {
  /** Text of the user message that the fork ends before, to be edited and sent again. */
  selectedText?: string;
}

/** The end of the fork's path, and the text that the user continues with. */
interface ForkPoint {
  /** Null: before the first entry. */
  readonly leafId: string | null;
  readonly selectedText?: string;
}

/** Copies the path to an entry into a new session and switches to it; see `SessionController.fork`. */
export async function fork(host: ControllerHost, entryId: string, options: ForkOptions): Promise<ForkResult> {
  assertOptions(options, { position: choice("before", "at") });
  const { position = "before" } = options;
  const from = host.current.session;
  const { leafId, selectedText } = forkPoint(from, entryId, position);
  if (await isCancelled(host, "session_before_fork", { entryId, position })) return { cancelled: true };
  const next = leafId === null ? emptyFork(from) : from.forkSibling(leafId);
  if (!next.isPersisted()) host.copied.set(next, new Set(next.getPathIds()));
  const result = await goTo(host, "fork", from, next);
  return { ...result, ...(selectedText !== undefined && { selectedText }) };
}

function emptyFork(from: SessionManager): SessionManager {
  const parentSession = from.getSessionFile();
  return from.createSibling(parentSession === undefined ? {} : { parentSession });
}

function forkPoint(session: SessionManager, entryId: string, position: "before" | "at"): ForkPoint {
  const entry = requireEntry(session, entryId);
  if (position === "at") return { leafId: entryId };
  if (entry.type !== "message" || entry.message.role !== "user") {
    throw new SessionError(
      "ENTRY_INVALID",
      `Entry ${entryId} is no user message, so there is nothing to write anew; fork with { position: "at" }.`,
      { details: { entryId } },
    );
  }
  return { leafId: entry.parentId, selectedText: textsOf(entry.message.content).join("") };
}
