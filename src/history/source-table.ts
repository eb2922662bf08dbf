import { homedir } from "node:os";
import type { DetectedSource } from "../import/detect-source.ts";
import type { Environment, SourceProgram } from "./source-program.ts";
import { CLAUDE_CODE } from "./sources/claude-code.ts";
import { CLINE } from "./sources/cline.ts";
import { CODEX } from "./sources/codex.ts";
import { GEMINI } from "./sources/gemini.ts";
import { KIMI } from "./sources/kimi.ts";
import { MESSAGES } from "./sources/messages.ts";
import { OPENCODE } from "./sources/opencode.ts";
import { PI4 } from "./sources/pi-v4.ts";

/** The programs whose sessions are found and read. */
export const SOURCE_PROGRAMS: readonly SourceProgram[] = [
  CLAUDE_CODE,
  CLINE,
  CODEX,
  GEMINI,
  KIMI,
  MESSAGES,
  OPENCODE,
  PI4,
];

/** Returns the program of a name; undefined if its sessions are not read. */
export function programOf(source: DetectedSource | undefined): SourceProgram | undefined {
  return SOURCE_PROGRAMS.find(({ name }) => name === source);
}

/**
 * Returns the folders of other programs' sessions, located as those programs do. They may be missing.
 *
 * @param env - Reads `HOME`, `CLAUDE_CONFIG_DIR` (several, separated by commas), `CODEX_HOME`, `CLINE_SESSION_DATA_DIR`,
 *   `CLINE_DATA_DIR`, `CLINE_DIR` and `KIMI_CODE_HOME`, and where editors keep their data: `XDG_CONFIG_HOME`, `APPDATA`.
 */
export function sourceFolders(env: Environment = process.env): string[] {
  return SOURCE_PROGRAMS.flatMap((program) => program.folders(env, env["HOME"] || homedir()));
}
