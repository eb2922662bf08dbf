import { digestOf } from "../../../core/format/ids.ts";

/** Key of a transcript: the main one of a session or, with a `subpath`, that of a subagent. */
export interface ClaudeSessionKey {
  projectKey: string;
  sessionId: string;
  /** Opaque; absent for the main transcript. */
  subpath?: string;
}

/** Returns the id of the session with a transcript. Keys may hold any characters, session ids may not. */
export function transcriptId({ projectKey, sessionId, subpath }: ClaudeSessionKey): string {
  for (const [name, value] of Object.entries({ projectKey, sessionId, subpath: subpath ?? "main" })) {
    if (typeof value === "string" && value !== "") continue;
    throw new TypeError(
      `${name} must be a text that is not empty; a key without subpath is that of the main transcript.`,
    );
  }
  return idOf([projectKey, sessionId, ...(subpath === undefined ? [] : [subpath])]);
}

/** Returns the id of the session with the index of a project. */
export function indexId(projectKey: string): string {
  return idOf([projectKey]);
}

function idOf(parts: readonly string[]): string {
  return `claude-${digestOf(JSON.stringify(parts))}`;
}
