import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import type { ExportedSession, ExportForOptions } from "./exported-session.ts";

/** Where and how to write a session, with nothing left to default. */
export interface WriteTarget extends Required<Omit<ExportForOptions, "project" | "model">> {
  readonly project: string | undefined;
  readonly model: string | undefined;
}

/** A session in the form of one program, with its id if that is not the one of the target. */
export type WrittenSession = Omit<ExportedSession, "id"> & Partial<Pick<ExportedSession, "id">>;

/** Writes a session in the form of one program. */
export type SessionWriter = (session: ReadonlySessionManager, target: WriteTarget) => WrittenSession;
