import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import type { ExportedSession, ExportForOptions } from "./exported-session.ts";

/** Options for writing a session, with all defaults applied. */
export interface WriteTarget extends Required<Omit<ExportForOptions, "project" | "model">> {
  readonly project: string | undefined;
  readonly model: string | undefined;
}

/** A session in a program's format. Its id is set only if it differs from the target's id. */
export type WrittenSession = Omit<ExportedSession, "id"> & Partial<Pick<ExportedSession, "id">>;

/** Writes a session in a program's format. */
export type SessionWriter = (session: ReadonlySessionManager, target: WriteTarget) => WrittenSession;
