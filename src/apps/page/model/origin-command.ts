import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { findImportOrigin } from "../../../core/format/import-origin.ts";
import { findSource, type SessionModel } from "./session-model.ts";

/** Programs that `sessiontree continue` can continue a session in; the first one is suggested. */
export const CONTINUING_PROGRAMS = ["codex", "claude-code", "gemini", "opencode", "pi"];

/** Command that continues a session in the program it came from. */
interface OriginCommand {
  /** Source name of the program, as `sessiontree continue --in` accepts it if the program is supported. */
  readonly source: string;
  /** Name of the program. */
  readonly program: string;
  readonly words: readonly string[];
  /**
   * Working directory of the session, because most programs look for a session only there. Empty if any directory works, or if the
   * directory cannot be quoted for every shell, such as one of Windows.
   */
  readonly folder: string;
}

/** Programs that continue a session by its id, keyed by the source name of their imported sessions. */
const BY_ID: { readonly [source: string]: { readonly program: string; readonly front: readonly string[] } } =
  {
    "claude-code": { program: "Claude Code", front: ["claude", "--resume"] },
    codex: { program: "Codex", front: ["codex", "resume"] },
    gemini: { program: "Gemini CLI", front: ["gemini", "--resume"] },
    qwen: { program: "Qwen Code", front: ["qwen", "--resume"] },
    opencode: { program: "OpenCode", front: ["opencode", "--session"] },
  };

/**
 * Returns the command that continues a session in the program it came from. Assumes pi if the session was not imported or is a fork,
 * which the program does not have.
 *
 * @param path - File of the session.
 * @returns Undefined for programs without such a command.
 */
export function findOriginCommand(
  session: Pick<SessionModel, "entryAt" | "header">,
  path: string,
): OriginCommand | undefined {
  const { entryAt, header } = session;
  const origin = findSource(session) === undefined ? undefined : findImportOrigin(entryAt(0));
  if (origin === undefined)
    return { source: "pi", program: "pi", words: ["pi", "--session", path], folder: "" };
  const known = Object.hasOwn(BY_ID, origin.source) ? BY_ID[origin.source] : undefined;
  return (
    known && {
      source: origin.source,
      program: known.program,
      words: [...known.front, origin.sourceId],
      folder: header !== undefined && isQuotable(header.cwd) ? header.cwd : "",
    }
  );
}

/** Returns whether a folder is an absolute POSIX path that a command on one line can contain unchanged. */
function isQuotable(folder: string): boolean {
  return folder.startsWith("/") && toPlainLine(folder) === folder;
}
