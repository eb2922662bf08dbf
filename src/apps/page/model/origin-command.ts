import { findImportOrigin } from "../../../core/format/import-origin.ts";
import type { SessionModel } from "./session-model.ts";

/** Programs that `sessiontree continue` can continue a session in; the first one is suggested. */
export const CONTINUING_PROGRAMS = ["codex", "claude-code", "gemini", "opencode", "pi"];

/** Command that continues a session in the program it came from. */
interface OriginCommand {
  /** Source name of the program, as `sessiontree continue --in` accepts it if the program is supported. */
  readonly source: string;
  /** Name of the program. */
  readonly program: string;
  readonly words: readonly string[];
  /** Working directory of the session, because most programs look for a session only there; empty if any directory works. */
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
 * Returns the command that continues a session in the program it came from; assumes pi if the session was not imported.
 *
 * @param path - File of the session.
 * @returns Undefined for programs without such a command.
 */
export function findOriginCommand(
  { entryAt, header }: Pick<SessionModel, "entryAt" | "header">,
  path: string,
): OriginCommand | undefined {
  const origin = findImportOrigin(entryAt(0));
  if (origin === undefined)
    return { source: "pi", program: "pi", words: ["pi", "--session", path], folder: "" };
  const known = Object.hasOwn(BY_ID, origin.source) ? BY_ID[origin.source] : undefined;
  return (
    known && {
      source: origin.source,
      program: known.program,
      words: [...known.front, origin.sourceId],
      folder: header?.cwd ?? "",
    }
  );
}
