import { Recall } from "../recall.ts";
import { SessionOpener } from "../session-opener.ts";
import { writeEditedFiles } from "./edited-file.ts";
import type { HookCall } from "./hook-call.ts";
import { writeKnownFailure } from "./known-failure.ts";
import { withoutLarge } from "./large-sessions.ts";
import { writeLastSession } from "./last-session.ts";

/** Bytes of what is pushed: an agent has not asked for it. */
export const MAX_PUSHED_BYTES = 1500;

/**
 * Returns what past sessions say about what has just happened in an agent's session; empty if nothing.
 *
 * When the time is over, it is what was found until then.
 *
 * @throws {SessionError} As the sessions do.
 */
export async function makeHookAnswer(past: Recall, { sessionId, event }: HookCall): Promise<string> {
  const recall = new Recall({ ...past.settings, source: withoutLarge(past.settings.source) }, past.time);
  const answer = recall.answer(MAX_PUSHED_BYTES);
  const running = {
    // An imported session may have more in its id than its program has.
    is: ({ id }: { readonly id: string }) => sessionId !== undefined && id.split(".").includes(sessionId),
    note: undefined,
  };
  const sessions = new SessionOpener(recall, running);
  try {
    if (event.kind === "start") await writeLastSession(recall, sessions, running.is, answer);
    else if (event.kind === "failure") await writeKnownFailure(recall, sessions, event, answer);
    else await writeEditedFiles(recall, sessions, event.paths, answer);
  } catch (error) {
    if (!recall.time.hasEnded(error)) throw error;
  }
  return answer.isEmpty ? "" : answer.finish();
}
