import { sessionIdOf } from "./session-builder.ts";

/** Derives a subagent's name from its main agent's session, because agents of two sessions may share an id. */
export function subagentSourceId(sessionId: string, agentId: string): string {
  return `${sessionId}.agent-${agentId}`;
}

/**
 * Returns the id of a subagent's session.
 *
 * The main agent's id is not its prefix, because a prefix of that id would then match both.
 */
export function subagentSessionId(sessionId: string, agentId: string): string {
  return sessionIdOf(`agent-${agentId}.${sessionId}`);
}
