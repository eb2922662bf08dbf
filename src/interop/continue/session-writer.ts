import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import type { ExportedSession, ExportForOptions } from "./exported-session.ts";

/** Where and how to write a session, with nothing left to default. */
export interface WriteTarget extends Required<Omit<ExportForOptions, "project">> {
  readonly project: string | undefined;
}

/** Writes a session in the form of one program. */
export type SessionWriter = (
  session: ReadonlySessionManager,
  target: WriteTarget,
) => Omit<ExportedSession, "id">;
