// Compiled by check-tarball.ts in a project that has the package installed, with the strictest settings.
import { type AssistantMessage, isSessionError, type SessionEntry, SessionManager } from "sessiontree";
import type { SessionContext } from "sessiontree/core";

/** Members of the session manager that an agent's extension uses. */
type AsExtensionsKnowIt = Pick<
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

export function listLabels(session: AsExtensionsKnowIt): (string | undefined)[] {
  return session.getEntries().map((entry) => session.getLabel(entry.id));
}

/** Narrows by type and by role, as a discriminated union allows. */
export function getText(entry: SessionEntry): string {
  if (entry.type !== "message" || entry.message.role !== "assistant") return "";
  const message: AssistantMessage = entry.message;
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

export async function readContext(path: string): Promise<SessionContext | undefined> {
  try {
    const session = SessionManager.open(path);
    const context: SessionContext = session.buildSessionContext();
    listLabels(session);
    await session.close();
    return context;
  } catch (error) {
    if (isSessionError(error, "NOT_A_SESSION")) return undefined;
    throw error;
  }
}

// @ts-expect-error A path is a string: if the declarations were `any`, nothing would be wrong here.
SessionManager.open(1);
