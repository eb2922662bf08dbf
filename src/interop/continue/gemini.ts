import { UNKNOWN_NAME } from "../../core/format/message.ts";
import { encodeParsed } from "../../core/jsonl/encode.ts";
import { hashSha256 } from "../../session/fs/digest.ts";
import type { ConversionIssues } from "../convert/conversion-issue.ts";
import { type Dialect, NO_ORIGINALS } from "../convert/dialect.ts";
import {
  type CallStyle,
  type GeminiPart,
  writeAnswer,
  writeResponse,
  writeUser,
} from "../convert/gemini/gemini-content.ts";
import { GEMINI } from "../convert/gemini/to-gemini.ts";
import type { PlannedUser } from "../convert/request-plan.ts";
import { CONTINUED_SESSION_TYPE, type ContinuedSession } from "../import/continued-session.ts";
import { isAside } from "../import/gemini/parts.ts";
import { type ContinuedTurn, makePortableIds, planContinuation } from "./continuation-plan.ts";
import { makeProjectName } from "./gemini-project.ts";
import type { SessionWriter } from "./session-writer.ts";

/** Dialect of Gemini CLI. It adds its own prompt first. Its model may not be the model that created the call ids. */
const GEMINI_CLI: Dialect = {
  ...GEMINI,
  ...NO_ORIGINALS,
  startsWithUser: false,
  takesImages: () => true,
  newIds: makePortableIds,
};

/**
 * Text added before a prompt that Gemini CLI would otherwise drop because it looks like a command or like Gemini CLI's own text.
 */
const BEFORE_PROMPT = "The user wrote:";

/**
 * Writes a session for Gemini CLI: a log with one record for each prompt, answer, and set of results.
 *
 * Calls are parts of their answer, and results are in a separate record, as in a resumed history. Results in `toolCalls` would be
 * sent twice after the session is resumed again. The start time is the time of the export, because Gemini CLI shows it in its
 * list of sessions and deletes old sessions based on it.
 */
export const writeGemini: SessionWriter = (session, target) => {
  const { id, cwd, now, leafId } = target;
  const { turns, ids, issues } = planContinuation(session, target, GEMINI_CLI);
  const style: CallStyle = { isNew: true, getId: (callId) => ids.of(callId) };
  const writer = new RecordWriter(style, issues);
  const startTime = new Date(now).toISOString();
  const summary = session.getSessionName();
  const continued: ContinuedSession = { sessionId: session.getSessionId(), leafId };
  const records: readonly object[] = [
    {
      sessionId: id,
      projectHash: hashSha256(cwd),
      startTime,
      lastUpdated: startTime,
      kind: "main",
      ...(summary !== undefined && { summary }),
    },
    ...turns.flatMap((turn) => writer.write(turn)),
    { $set: { [CONTINUED_SESSION_TYPE]: continued } },
  ];
  const text = records.map((record) => `${encodeParsed(record)}\n`).join("");
  const project = target.project ?? makeProjectName(cwd);
  const name = `session-${startTime.slice(0, 16).replace(":", "-")}-${id.slice(0, 8)}.jsonl`;
  const file = { path: `tmp/${project}/chats/${name}`, bytes: new TextEncoder().encode(text) };
  return { files: [file], commands: [["gemini", "--resume", id]], issues: issues.list() };
};

/** Writes the records of turns. Each id is derived from the turn's entry. */
class RecordWriter {
  readonly #style: CallStyle;
  readonly #issues: ConversionIssues;
  readonly #uses = new Map<string, number>();

  constructor(style: CallStyle, issues: ConversionIssues) {
    this.#style = style;
    this.#issues = issues;
  }

  write({ item, entryId, timestamp, message }: ContinuedTurn): object[] {
    const id = this.#makeId(entryId);
    if (item.kind === "user") return [{ id, timestamp, type: "user", content: this.#writePrompt(item) }];
    const content = writeAnswer(item.content, this.#style);
    const model = message.role === "assistant" ? message.model : UNKNOWN_NAME;
    const answer = { id, timestamp, type: "gemini", content, thoughts: [], model };
    if (item.results.length === 0) return [answer];
    const results = item.results.map((result) =>
      writeResponse(result.message, result.message.toolName, this.#style),
    );
    return [answer, { id: `${id}_response`, timestamp, type: "user", content: results }];
  }

  #writePrompt({ content, index }: PlannedUser): GeminiPart[] {
    const parts = writeUser(content);
    const isBlank = parts.every(({ text }) => text !== undefined && text.trim() === "");
    if (!isBlank && !isAside({ content: parts })) return parts;
    this.#issues.report(
      "CONTENT_ADDED",
      index,
      `Added "${BEFORE_PROMPT}" before text that Gemini CLI would drop.`,
    );
    return [{ text: BEFORE_PROMPT }, ...parts];
  }

  /** Returns the entry's id, with a number appended starting with the second record. */
  #makeId(entryId: string): string {
    const times = (this.#uses.get(entryId) ?? 0) + 1;
    this.#uses.set(entryId, times);
    return times === 1 ? entryId : `${entryId}.${times}`;
  }
}
