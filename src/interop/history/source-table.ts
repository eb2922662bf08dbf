import { homedir } from "node:os";
import { assertArgument } from "../../core/format/arguments.ts";
import { OBJECT } from "../../core/format/options.ts";
import type { DetectedSource } from "../import/detect-source.ts";
import type { Environment, SourceProgram } from "./source-program.ts";
import { ATIF } from "./sources/atif.ts";
import { CLAUDE_CODE } from "./sources/claude-code.ts";
import { CLINE } from "./sources/cline.ts";
import { CODEX } from "./sources/codex.ts";
import { COPILOT } from "./sources/copilot.ts";
import { GEMINI } from "./sources/gemini.ts";
import { KIMI } from "./sources/kimi.ts";
import { MESSAGES } from "./sources/messages.ts";
import { OPENCODE } from "./sources/opencode.ts";
import { PI4 } from "./sources/pi-v4.ts";
import { QWEN } from "./sources/qwen.ts";

/** Programs whose sessions can be found and read. */
export const SOURCE_PROGRAMS: readonly SourceProgram[] = [
  ATIF,
  CLAUDE_CODE,
  CLINE,
  CODEX,
  COPILOT,
  GEMINI,
  KIMI,
  MESSAGES,
  OPENCODE,
  PI4,
  QWEN,
];

/** Returns the program with the given name; undefined if its sessions cannot be read. */
export function findProgram(source: DetectedSource | undefined): SourceProgram | undefined {
  return SOURCE_PROGRAMS.find(({ name }) => name === source);
}

/**
 * Returns the folders of other programs' sessions, determined in the same way as those programs do. The folders may not exist.
 *
 * @param env - Environment with `HOME`, `CLAUDE_CONFIG_DIR` (several, separated by commas), `CODEX_HOME`, `COPILOT_HOME`,
 *   `KIMI_CODE_HOME`, `CLINE_SESSION_DATA_DIR`, `CLINE_DATA_DIR`, `CLINE_DIR`, and the editors' `XDG_CONFIG_HOME` and `APPDATA`.
 */
export function sourceFolders(env: Environment = process.env): string[] {
  assertArgument("env", env, OBJECT);
  return SOURCE_PROGRAMS.flatMap((program) => program.folders(env, env["HOME"] || homedir()));
}
