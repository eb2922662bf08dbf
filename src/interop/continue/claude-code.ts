import { toArray, toRecord } from "../../core/context/entry-fields.ts";
import { hashText } from "../../core/format/ids.ts";
import { UNKNOWN_NAME } from "../../core/format/message.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { stripBlock } from "../convert/anthropic/anthropic-content.ts";
import { planAnthropic } from "../convert/anthropic/to-anthropic.ts";
import { CONTINUED_SESSION_TYPE, type ContinuedSession } from "../import/continued-session.ts";
import { type ExportedMessage, type ExportStage, getMessageTime, listStages } from "./export-stages.ts";
import type { ExportIssue } from "./exported-session.ts";
import type { SessionWriter, WriteTarget } from "./session-writer.ts";

/** Version of Claude Code whose file format is written. */
const CLAUDE_CODE_VERSION = "2.1.332";

/** Maximum length of the folder name that Claude Code derives from a path, in characters. */
const MAX_FOLDER_NAME = 200;

/** Zero usage. The session already contains the usage of its calls, so nothing is counted twice. */
const NO_USAGE = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

/** Writes a session as a Claude Code transcript. A compaction is converted to a Claude Code compaction. */
export const writeClaudeCode: SessionWriter = (session, target) => {
  const transcript = new Transcript(target);
  const issues = listStages(session, target).flatMap((stage) => transcript.addStage(stage));
  const continued = { sessionId: session.getSessionId(), leafId: target.leafId };
  const bytes = transcript.finish(continued, session.getSessionName());
  return {
    files: [{ path: makeTranscriptPath(target), bytes }],
    commands: [["claude", "--resume", target.id]],
    issues,
  };
};

function makeTranscriptPath({ id, cwd }: WriteTarget): string {
  const folder = cwd.replace(/[^a-zA-Z0-9]/g, "-").slice(0, MAX_FOLDER_NAME);
  return `projects/${folder}/${id}.jsonl`;
}

/** Lines of a transcript. */
class Transcript {
  readonly #target: WriteTarget;
  readonly #lines: string[] = [];
  #lastUuid: string | null = null;
  #count = 0;

  constructor(target: WriteTarget) {
    this.#target = target;
  }

  addStage({ sources, compaction }: ExportStage): readonly ExportIssue[] {
    const messages = sources.map(({ message }) => message);
    const { plan, written } = planAnthropic(messages, { dropThinking: true });
    plan.issues.locate((index) => sources[index]?.entry.id);
    if (compaction !== undefined) this.#addBoundary(compaction.tokensBefore, sources[0]);
    for (const { role, content, index } of written) {
      const said = typeof content === "string" ? content : content.map(stripBlock);
      if (role === "user") this.#addUser(said, sources[index]);
      else this.#addAnswer(said, sources[index]);
    }
    return plan.issues.list();
  }

  finish(continued: ContinuedSession, title: string | undefined): Uint8Array {
    const { id: sessionId, now } = this.#target;
    if (title !== undefined && title !== "")
      this.#addLine({ type: "custom-title", customTitle: title, sessionId });
    const timestamp = new Date(now).toISOString();
    this.#addLine({ type: CONTINUED_SESSION_TYPE, sessionId, timestamp, continued });
    return new TextEncoder().encode(this.#lines.join(""));
  }

  #addBoundary(preTokens: number, source: ExportedMessage | undefined): void {
    const logicalParentUuid = this.#lastUuid;
    this.#lastUuid = null;
    const metadata = { trigger: "manual", preTokens };
    this.#addRecord("system", source, {
      ...{ subtype: "compact_boundary", logicalParentUuid, content: "Conversation compacted" },
      ...{ isMeta: false, level: "info", compactMetadata: metadata },
    });
  }

  #addUser(said: unknown, source: ExportedMessage | undefined): void {
    const isSummary = source?.message.role === "compactionSummary";
    const marks = isSummary ? { isCompactSummary: true, isVisibleInTranscriptOnly: true } : {};
    this.#addRecord("user", source, { ...marks, message: { role: "user", content: toPlainContent(said) } });
  }

  #addAnswer(said: unknown, source: ExportedMessage | undefined): void {
    const content = typeof said === "string" ? [{ type: "text", text: said }] : said;
    const isCall = toArray(content).some((block) => toRecord(block)["type"] === "tool_use");
    const { model } = toRecord(source?.message);
    this.#addRecord("assistant", source, {
      message: {
        id: `msg_${this.#makeUuid().replaceAll("-", "")}`,
        ...{ type: "message", role: "assistant", model: model ?? UNKNOWN_NAME, content },
        ...{ stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null, usage: NO_USAGE },
      },
    });
  }

  #addRecord(type: string, source: ExportedMessage | undefined, fields: object): void {
    const { id: sessionId, cwd, now } = this.#target;
    const parentUuid = this.#lastUuid;
    const uuid = this.#makeUuid();
    this.#lastUuid = uuid;
    this.#count++;
    this.#addLine({
      ...{
        parentUuid,
        isSidechain: false,
        userType: "external",
        cwd,
        sessionId,
        version: CLAUDE_CODE_VERSION,
      },
      ...{ type, ...fields, uuid, timestamp: getMessageTime(source, now) },
    });
  }

  /** Returns the id of the next record, derived from the session id. */
  #makeUuid(): string {
    const name = hashText(`${this.#target.id} ${this.#count}`);
    return name.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }

  #addLine(record: object): void {
    this.#lines.push(`${encodeRecord(record)}\n`);
  }
}

/** Returns a single text block as a string, which is how Claude Code writes prompts. */
function toPlainContent(said: unknown): unknown {
  const [first, ...rest] = toArray(said).map(toRecord);
  return first?.["type"] === "text" && rest.length === 0 ? first["text"] : said;
}
