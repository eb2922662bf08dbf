import type { ConversionIssue, ConversionIssueCode } from "../convert/conversion-issue.ts";

/** Programs that can continue a session. */
export const CONTINUING_AGENTS = ["claude-code", "codex", "gemini", "opencode", "pi"] as const;

/** A program that can continue a session. */
export type ContinuingAgent = (typeof CONTINUING_AGENTS)[number];

/** Options for `exportFor`. */
export interface ExportForOptions {
  /** Id of the entry at which to continue. Default: the session's leaf. */
  readonly leafId?: string;
  /** Working directory of the program. Default: the session's working directory. */
  readonly cwd?: string;
  /**
   * `"context"` exports the model's context. `"whole"` exports the whole path, with compactions if the program supports them.
   * Default: `"context"`.
   */
  readonly compacted?: "context" | "whole";
  /** Id of the session in the program. Must be a UUID. Default: a random one. */
  readonly id?: string;
  /** Time of the export, in Unix milliseconds. Default: now. */
  readonly now?: number;
  /**
   * Model with which OpenCode continues, such as `anthropic/claude-opus-4-8`. The user's OpenCode must have access to it.
   * Default: the model of the last answer.
   */
  readonly model?: string;
  /** Project folder name in Gemini CLI, from its `projects.json`. Default: derived from the working directory. */
  readonly project?: string;
}

/** A file to write. */
export interface ExportedFile {
  /** Path with forward slashes, relative to the program's folder, such as `~/.codex`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * Code of a loss or change in an export. docs/continue.md explains each code.
 *
 * In addition to the conversion codes: `SYSTEM_LEFT_OUT`: the program has its own instructions. `TOOLS_FOREIGN`: calls use tools
 * that the program does not have. `IMAGE_LEFT_OUT`: an image was replaced with text. `BRANCHES_LEFT_OUT`: other branches are not
 * exported. `FILES_NOT_THERE`: the working directory is different, so files may be missing.
 */
export type ExportIssueCode =
  | ConversionIssueCode
  | "SYSTEM_LEFT_OUT"
  | "TOOLS_FOREIGN"
  | "IMAGE_LEFT_OUT"
  | "BRANCHES_LEFT_OUT"
  | "FILES_NOT_THERE";

/** A loss or change in an export. It is reported, never thrown. */
export interface ExportIssue extends Omit<ConversionIssue, "code"> {
  readonly code: ExportIssueCode;
}

/** A session in another program's format. */
export interface ExportedSession {
  /** Id of the session in the program. */
  readonly id: string;
  readonly files: readonly ExportedFile[];
  /**
   * Commands to run in the working directory, in order. `{}` is the first file's path. The last command continues the session.
   */
  readonly commands: readonly (readonly string[])[];
  /** Losses and changes in the program's format. */
  readonly issues: readonly ExportIssue[];
}
