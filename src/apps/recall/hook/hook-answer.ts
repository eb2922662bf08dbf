import { Recall } from "../recall.ts";
import { SessionOpener } from "../session-opener.ts";
import { writeEditedFiles } from "./edited-file.ts";
import type { HookCall } from "./hook-call.ts";
import { writeKnownFailure } from "./known-failure.ts";
import { withoutLarge } from "./large-sessions.ts";
import { writeLastSession } from "./last-session.ts";

/** Maximum size of unrequested help, in bytes: kept small because the agent did not ask for it. */
export const MAX_PUSHED_BYTES = 1500;

/**
 * Returns help from past sessions for an event in an agent's session; empty if no help is found.
 *
 * If time runs out, returns what was found by then.
 *
 * @throws {SessionError} If reading sessions fails.
 */
export async function makeHookAnswer(past: Recall, { sessionId, event }: HookCall): Promise<string> {
  const { settings, time, cleaner } = past;
  const caller = sessionId === undefined ? [] : [sessionId];
  const recall = new Recall(
    { ...settings, source: withoutLarge(settings.source) },
    { time, cleaner, caller },
  );
  const answer = recall.answer(MAX_PUSHED_BYTES);
  const sessions = new SessionOpener(recall);
  try {
    if (event.kind === "start") await writeLastSession(recall, sessions, answer);
    else if (event.kind === "failure") await writeKnownFailure(recall, sessions, event, answer);
    else await writeEditedFiles(recall, sessions, event.paths, answer);
  } catch (error) {
    if (!recall.time.hasEnded(error)) throw error;
  }
  return answer.isEmpty ? "" : answer.finish();
}
