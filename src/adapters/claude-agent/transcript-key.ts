import { digestOf } from "../../schema/ids.ts";

/** Which transcript is meant: the main one of a session or, with a `subpath`, one of its subagents'. */
export interface ClaudeSessionKey {
  projectKey: string;
  sessionId: string;
  /** Opaque; absent for the main transcript. */
  subpath?: string;
}

/**
 * Makes the id of the session that keeps a transcript: keys may hold anything, ids of sessions may not.
 *
 * @throws {TypeError} If it is no key.
 */
export function transcriptId({ projectKey, sessionId, subpath }: ClaudeSessionKey): string {
  for (const [name, value] of Object.entries({ projectKey, sessionId, subpath: subpath ?? "main" })) {
    if (typeof value === "string" && value !== "") continue;
    throw new TypeError(
      `${name} must be a text that is not empty; a key without subpath is that of the main transcript.`,
    );
  }
  return idOf([projectKey, sessionId, ...(subpath === undefined ? [] : [subpath])]);
}

/** Makes the id of the session that keeps the index of a project. */
export function indexId(projectKey: string): string {
  return idOf([projectKey]);
}

function idOf(parts: readonly string[]): string {
  return `claude-${digestOf(JSON.stringify(parts))}`;
}
