import { toRecord } from "../../core/context/entry-fields.ts";
import type { JsonRecord } from "../../core/format/json.ts";
import { detectSourceOfFile } from "../../interop/history/file-facts.ts";
import type { ImportSessionsOptions } from "../../interop/history/import-sessions.ts";
import { importTranscript, type Transcript } from "../../interop/history/import-transcript.ts";
import { readHookInput } from "./hook-input.ts";
import type { CliIo } from "./io.ts";
import { UsageError } from "./usage-error.ts";

/** Maximum size of a transcript that is imported while the agent waits, in bytes. */
const MAX_BYTES = 5 * 1024 * 1024;

/** Events at which a program ends without waiting for its hooks. */
const AT_END = /^session_?end$/i;

/** Input field stating that the agent no longer waits. */
const APART = "sessiontree";

/**
 * Imports the session that an agent specifies in the input of a hook.
 *
 * Imports a large session, or the session of an agent that is exiting, in a separate process, because the agent waits for its
 * hooks.
 *
 * @throws {UsageError} If the input does not specify a session.
 */
export async function importFromHook(io: CliIo, options: ImportSessionsOptions): Promise<void> {
  const input = await readHookInput(io, Number.POSITIVE_INFINITY);
  const transcript = readTranscript(input);
  const isWaiting = input[APART] === undefined && io.again !== undefined;
  const isEnding = AT_END.test(findText(input, "hook_event_name", "hookEventName") ?? "");
  if (isWaiting && isEnding) return startAgain(io, transcript);
  let isTold = false;
  const onSkipped: ImportSessionsOptions["onSkipped"] = (path, error) => {
    isTold = true;
    options.onSkipped?.(path, error);
  };
  const { isTooLarge, imports } = await importTranscript(
    transcript,
    { ...options, onSkipped },
    isWaiting ? MAX_BYTES : undefined,
  );
  if (isTooLarge) return startAgain(io, transcript);
  if (imports.length > 0 || isTold || transcript.path === undefined) return;
  const source = detectSourceOfFile(transcript.path);
  // Sessions of pi do not need to be imported, and a session that has just begun has no content to import.
  if (source !== undefined && source !== "pi" && source !== "oh-my-pi")
    throw new UsageError(`${transcript.path} contains no session to import.`);
}

async function startAgain({ again }: CliIo, { path, sourceId }: Transcript): Promise<void> {
  await again?.(JSON.stringify({ transcript_path: path, session_id: sourceId, [APART]: true }));
}

function readTranscript(input: JsonRecord): Transcript {
  // At the end of a subagent, the other path is the transcript of the agent that started it.
  const path = findText(input, "agent_transcript_path", "transcript_path", "transcriptPath");
  const sourceId =
    findText(input, "session_id", "sessionId") ??
    findText(toRecord(input["sessionContext"]), "rootSessionId");
  if (path === undefined && sourceId === undefined)
    throw new UsageError(
      "--hook reads the JSON that an agent writes to a hook: an object with transcript_path or session_id.",
    );
  return { path, sourceId };
}

function findText(input: JsonRecord, ...names: readonly string[]): string | undefined {
  const values = names.map((name) => input[name]);
  return values.find((value): value is string => typeof value === "string" && value !== "");
}
