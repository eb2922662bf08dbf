import { SessionError } from "../format/errors.ts";
import { type ForeignSource, IMPORTED_SOURCES } from "./foreign-source.ts";

/** Description of a file in each format. */
const NAMES: { readonly [source in ForeignSource]: string } = {
  atif: "an ATIF trajectory",
  "claude-code": "a Claude Code transcript",
  cline: "a task of Cline, Roo Code or Kilo",
  codex: "a Codex transcript",
  gemini: "a Gemini CLI transcript",
  messages: "an array of messages",
  "pi-v4": "a session of pi's dropped version 4",
  copilot: "a Copilot CLI transcript",
  kimi: "a Kimi Code transcript",
  "kimi-cli": "a transcript of kimi-cli, which Kimi Code has replaced",
  opencode: "an OpenCode session",
  qwen: "a Qwen Code transcript",
  sqlite: "a database",
};

/**
 * Describes another program's file and what the user can do with it.
 *
 * @param subject - Path or other subject of the sentence.
 */
export function describeForeign(subject: string, source: ForeignSource): string {
  const isImported = source === "sqlite" || IMPORTED_SOURCES.some((one) => one === source);
  const advice = isImported
    ? `Import it with "sessiontree import FILE" or importSessions(); the file does not change.`
    : "This version of sessiontree cannot read it, and does not change it. Open it with the program that wrote it.";
  return `${subject} is ${NAMES[source]}. ${advice}`;
}

/**
 * Creates the error for data without a session header.
 *
 * @param subject - Path or other subject of the message.
 * @param source - Program that wrote the file, if known.
 */
export function notASession(
  subject: string,
  details: SessionError["details"],
  source: ForeignSource | undefined,
): SessionError {
  const advice =
    details["path"] === undefined
      ? "Check where its bytes come from."
      : 'If one was lost, repairSession(path) or "sessiontree repair" can rebuild it.';
  const message =
    source === undefined
      ? `${subject} is not a session: it has no session header. ${advice}`
      : describeForeign(subject, source);
  return new SessionError("NOT_A_SESSION", message, { details: { ...details, ...(source && { source }) } });
}
