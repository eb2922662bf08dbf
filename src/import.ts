/**
 * Functions for importing sessions from other programs, keeping imported sessions in sync with their source files, and continuing
 * a session in another program.
 *
 * @module
 */

export type { AtifAsset } from "./interop/atif/content.ts";
export { type ExportedTrajectory, exportAtif } from "./interop/atif/export-atif.ts";
export type { AtifSource, ExportAtifOptions } from "./interop/atif/export-options.ts";
export type { AtifTrajectory } from "./interop/atif/trajectory.ts";
export { type Continuation, type ContinueInOptions, continueIn } from "./interop/continue/continue-in.ts";
export { exportFor } from "./interop/continue/export-for.ts";
export type {
  ContinuingAgent,
  ExportedSession,
  ExportForOptions,
  ExportIssue,
  ExportIssueCode,
} from "./interop/continue/exported-session.ts";
export {
  type ImportPreview,
  type ImportSessionsOptions,
  importSessions,
  previewImport,
  type SessionImport,
} from "./interop/history/import-sessions.ts";
export type { Environment } from "./interop/history/source-program.ts";
export type { SourceQuery } from "./interop/history/source-query.ts";
export { sourceFolders } from "./interop/history/source-table.ts";
export { findAtifSession } from "./interop/import/atif/stored-lines.ts";
export { type DetectedSource, detectSource } from "./interop/import/detect-source.ts";
export type { ImportCounts, ImportedSession, SourceName } from "./interop/import/imported-session.ts";
export { type ImportInput, importers } from "./interop/import/importers.ts";
export type { SourceRecord, SourceText } from "./interop/import/source-text.ts";
