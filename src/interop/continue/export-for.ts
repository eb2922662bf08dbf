import { SessionError } from "../../core/format/errors.ts";
import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import type { ContinuingAgent, ExportedSession, ExportForOptions } from "./exported-session.ts";
import { writeGemini } from "./gemini.ts";
import { writeOpenCode } from "./opencode.ts";
import { writePi } from "./pi.ts";
import type { SessionWriter, WriteTarget } from "./session-writer.ts";

const WRITERS: Readonly<Partial<Record<ContinuingAgent, SessionWriter>>> = {
  gemini: writeGemini,
  opencode: writeOpenCode,
  pi: writePi,
};

/**
 * Converts a session to the files with which another program continues it.
 *
 * Writes nothing. The model there gets the same texts, tool calls, and results; thinking is left out, because providers
 * accept it only from the model that wrote it.
 *
 * @param agent - The program.
 * @param session - Not changed.
 * @throws {SessionError} `ENTRY_NOT_FOUND`; `NOT_A_SESSION` if the path has no message
 * @throws {TypeError} If the program or an option is unknown.
 * @remarks Cost: O(bytes of the path). Source: docs/continue.md
 */
export function exportFor(
  agent: ContinuingAgent,
  session: ReadonlySessionManager,
  options: ExportForOptions = {},
): ExportedSession {
  const write = WRITERS[agent];
  if (write === undefined)
    throw new TypeError(
      `No session can continue in ${agent}; name one of ${Object.keys(WRITERS).join(", ")}.`,
    );
  const leafId = options.leafId ?? session.getLeafId();
  const hasMessage = leafId !== null && session.getBranch(leafId).some(({ type }) => type === "message");
  if (leafId === null || !hasMessage)
    throw new SessionError("NOT_A_SESSION", "The session has no message; name another one.", {});
  const target: WriteTarget = {
    leafId,
    cwd: options.cwd ?? session.getCwd(),
    compacted: options.compacted ?? "context",
    id: options.id ?? crypto.randomUUID(),
    now: options.now ?? Date.now(),
    project: options.project,
    model: options.model,
  };
  return { id: target.id, ...write(session, target) };
}
