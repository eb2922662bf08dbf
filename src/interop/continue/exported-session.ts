import type { ConversionIssue, ConversionIssueCode } from "../convert/conversion-issue.ts";

/** Programs in which a session can continue. */
export const CONTINUING_AGENTS = ["claude-code", "codex", "gemini", "opencode", "pi"] as const;

/** One of the programs in which a session can continue. */
export type ContinuingAgent = (typeof CONTINUING_AGENTS)[number];

/** Options for `exportFor`. */
export interface ExportForOptions {
  /** Entry at which to continue. Default: the leaf of the session. */
  readonly leafId?: string;
  /** Working directory of the program. Default: that of the session. */
  readonly cwd?: string;
  /**
   * `"context"` exports the context of the model; `"whole"` exports the whole path, with compactions if the program supports
   * them. Default: `"context"`.
   */
  readonly compacted?: "context" | "whole";
  /** Id of the session in the program, a UUID. Default: a random one. */
  readonly id?: string;
  /** Time of the export, Unix milliseconds. Default: now. */
  readonly now?: number;
  /**
   * Model with which OpenCode continues, such as `anthropic/claude-opus-4-8`; the user's OpenCode must be configured for it.
   * Default: the model of the last answer.
   */
  readonly model?: string;
  /** Folder name of the project in Gemini CLI, from its `projects.json`. Default: made from the working directory. */
  readonly project?: string;
}

/** A file to write. */
export interface ExportedFile {
  /** Path with `/`, relative to the program's folder, such as `~/.codex`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * Codes of losses and changes in an export. docs/continue.md explains each code.
 *
 * In addition to the codes of conversions: `SYSTEM_LEFT_OUT`: the program has its own instructions. `TOOLS_FOREIGN`: calls name
 * tools that the program lacks. `IMAGE_LEFT_OUT`: a text replaces an image. `BRANCHES_LEFT_OUT`: other branches are only in the
 * session. `FILES_NOT_THERE`: the working directory is a different one, so that files may be missing.
 */
export type ExportIssueCode =
  | ConversionIssueCode
  | "SYSTEM_LEFT_OUT"
  | "TOOLS_FOREIGN"
  | "IMAGE_LEFT_OUT"
  | "BRANCHES_LEFT_OUT"
  | "FILES_NOT_THERE";

/** A loss or change in an export: reported, never thrown. */
export interface ExportIssue extends Omit<ConversionIssue, "code"> {
  readonly code: ExportIssueCode;
}

/** A session in the form of another program. */
export interface ExportedSession {
  /** Id of the session in the program. */
  readonly id: string;
  readonly files: readonly ExportedFile[];
  /** Commands to run in the working directory, in order; `{}` is the first file's path. The last one continues the session. */
  readonly commands: readonly (readonly string[])[];
  /** Losses and changes in the program's form. */
  readonly issues: readonly ExportIssue[];
}
