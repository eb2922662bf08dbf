import { getTexts } from "../../core/context/content-text.ts";
import { toRecord } from "../../core/context/entry-fields.ts";
import { OpeningFinder } from "../../core/facts/session-title.ts";
import type { ImageContent, TextContent, ToolCall } from "../../core/format/content.ts";
import { UNKNOWN_NAME } from "../../core/format/message.ts";
import { encodeParsed } from "../../core/jsonl/encode.ts";
import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import { NO_WORDS } from "../convert/anthropic/to-anthropic.ts";
import { type Dialect, isBlank, NO_ORIGINALS, USUAL_DIALECT } from "../convert/dialect.ts";
import { toDataUrl } from "../convert/images.ts";
import type { PlannedAnswer, PlannedResult, PlannedUser } from "../convert/request-plan.ts";
import { CONTINUED_SESSION_TYPE, type ContinuedSession } from "../import/continued-session.ts";
import {
  type ContinuationPlan,
  type ContinuedTurn,
  makePortableIds,
  planContinuation,
} from "./continuation-plan.ts";
import type { SessionWriter, WriteTarget } from "./session-writer.ts";

/** Version of the `opencode export` documents that this module writes. */
const VERSION = "1.18.33";

/** Dialect of OpenCode. OpenCode sends requests to any provider, so ids and names meet the strictest provider's requirements. */
const OPENCODE: Dialect = {
  ...USUAL_DIALECT,
  form: "modelMessage",
  apis: undefined,
  provider: undefined,
  startsWithUser: true,
  isBlank,
  // A failed call has text but no attachments.
  takesImages: ({ isError }) => !isError,
  newIds: makePortableIds,
  canReplay: () => false,
  ...NO_ORIGINALS,
};

/** Maximum length of a title, in characters. */
const MAX_TITLE = 80;

/** A model, as identified by OpenCode. */
interface ModelName {
  readonly providerID: string;
  readonly modelID: string;
}

/** The continued session, and the time of the last message copied from it. */
interface CopiedSession extends ContinuedSession {
  /** Creation time of the last copied message, in Unix milliseconds. New messages are later. */
  readonly copiedUntil: number;
}

/**
 * Writes a session for OpenCode 1, as a document like the output of `opencode export`.
 *
 * OpenCode sorts messages by id. It continues with the model of the last prompt, so it must be configured for that model.
 */
export const writeOpenCode: SessionWriter = (session, target) => {
  const plan = planContinuation(session, target, OPENCODE);
  const ids = new IdMaker(target.id, target.now, plan.turns);
  const id = ids.makeSessionId();
  const writer = new MessageWriter(id, ids, plan, target);
  const times = spreadTimes(plan.turns, target.now);
  const messages = plan.turns.map((turn, index) => writer.write(turn, times[index] ?? target.now));
  const continued: CopiedSession = {
    sessionId: session.getSessionId(),
    leafId: target.leafId,
    copiedUntil: times.at(-1) ?? target.now,
  };
  const info = {
    id,
    slug: `sessiontree-${target.id.slice(0, 8)}`,
    projectID: "global",
    directory: target.cwd,
    title: makeDocumentTitle(session),
    version: VERSION,
    metadata: { [CONTINUED_SESSION_TYPE]: continued },
    time: { created: times[0] ?? target.now, updated: target.now },
  };
  const bytes = new TextEncoder().encode(`${encodeParsed({ info, messages })}\n`);
  return {
    id,
    files: [{ path: `${id}.json`, bytes }],
    commands: [
      ["opencode", "import", "{}"],
      ["opencode", "--session", id],
    ],
    issues: plan.issues.list(),
  };
};

function makeDocumentTitle(session: ReadonlySessionManager): string {
  const name = session.getSessionName();
  if (name !== undefined) return name;
  const finder = new OpeningFinder();
  for (const entry of session.getEntries()) if (!finder.isSettled) finder.add(entry.type, toRecord(entry));
  return Array.from(finder.opening.text).slice(0, MAX_TITLE).join("") || "Continued session";
}

/**
 * Returns a time for each message, because OpenCode distinguishes messages by their times. Each time is at least 1 ms later than
 * the previous time, and no time is later than `now`.
 */
function spreadTimes(turns: readonly ContinuedTurn[], now: number): number[] {
  const times: number[] = [];
  for (const { timestamp } of turns) times.push(Math.max(Date.parse(timestamp), (times.at(-1) ?? 0) + 1));
  return times.map((time, index) => Math.min(time, now - (times.length - 1 - index)));
}

/**
 * Number of ids per millisecond. The following constants are the number of bits and the number of hexadecimal digits in an id's
 * number.
 */
const IDS_PER_MS = 0x1000n;
const ID_BITS = 48;
const ID_DIGITS = 12;

/** Creates ids like OpenCode's. All these ids sort before the ids that OpenCode creates from now on. */
class IdMaker {
  readonly #seed: string;
  #next: bigint;

  constructor(uuid: string, now: number, turns: readonly ContinuedTurn[]) {
    // As many characters as in OpenCode's ids.
    this.#seed = uuid.replaceAll("-", "").slice(0, 14);
    const parts = turns.flatMap(({ item }) => [
      ...item.content,
      ...(item.kind === "answer" ? item.results : []),
    ]);
    const count = BigInt(turns.length + 2 * parts.length + 1);
    this.#next = BigInt(now) * IDS_PER_MS - count;
  }

  /** Returns an id that sorts after all previous ones. */
  make(kind: "msg" | "prt"): string {
    return `${kind}_${this.#digits(this.#next++)}${this.#seed}`;
  }

  /** Returns the session id. Ids of newer sessions sort first. */
  makeSessionId(): string {
    return `ses_${this.#digits(~this.#next)}${this.#seed}`;
  }

  #digits(value: bigint): string {
    return BigInt.asUintN(ID_BITS, value).toString(16).padStart(ID_DIGITS, "0");
  }
}

/** Writes messages with their parts. */
class MessageWriter {
  readonly #sessionID: string;
  readonly #ids: IdMaker;
  readonly #callIds: ContinuationPlan["ids"];
  readonly #cwd: string;
  readonly #model: ModelName;
  #parentID = "";

  constructor(sessionID: string, ids: IdMaker, plan: ContinuationPlan, { cwd, model }: WriteTarget) {
    this.#sessionID = sessionID;
    this.#ids = ids;
    this.#callIds = plan.ids;
    this.#cwd = cwd;
    this.#model = parseModel(model) ?? findLastModel(plan.turns);
  }

  write({ item, message }: ContinuedTurn, created: number): object {
    const id = this.#ids.make("msg");
    if (item.kind === "user") {
      this.#parentID = id;
      const info = { role: "user", time: { created }, agent: "build", model: this.#model };
      return { info: { id, sessionID: this.#sessionID, ...info }, parts: this.#writePrompt(item, id) };
    }
    const { modelID, providerID } = toModelName(message) ?? this.#model;
    const info = {
      id,
      sessionID: this.#sessionID,
      role: "assistant",
      parentID: this.#parentID,
      mode: "build",
      agent: "build",
      path: { cwd: this.#cwd, root: this.#cwd },
      // The original session already counts the usage.
      cost: 0,
      tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
      modelID,
      providerID,
      time: { created, completed: created },
      finish: item.results.length > 0 ? "tool-calls" : "stop",
    };
    return { info, parts: this.#writeAnswer(item, id, created) };
  }

  #writePrompt({ content }: PlannedUser, messageID: string): object[] {
    if (typeof content === "string") return [this.#makePart(messageID, { type: "text", text: content })];
    return content.map((block) => this.#writeBlock(block, messageID));
  }

  #writeAnswer({ content, results }: PlannedAnswer, messageID: string, time: number): object[] {
    return content.flatMap((block) => {
      if (block.type === "text") return [this.#writeBlock(block, messageID)];
      if (block.type !== "toolCall") return [];
      const result = results.find(({ message }) => message.toolCallId === block.id);
      return result === undefined ? [] : [this.#writeCall(block, result, messageID, time)];
    });
  }

  #writeCall(
    { id, name, arguments: input }: ToolCall,
    { message }: PlannedResult,
    messageID: string,
    time: number,
  ) {
    const text = getTexts(message.content).join("\n");
    const images = message.content.filter((block) => block.type === "image");
    const part = { type: "tool", callID: this.#callIds.of(id), tool: name };
    const times = { start: time, end: time };
    if (message.isError)
      return this.#makePart(messageID, {
        ...part,
        state: { status: "error", input, error: text || NO_WORDS, time: times },
      });
    const made = this.#makePart(messageID, part);
    const attachments = images.map((image) => this.#writeBlock(image, messageID));
    const shown = { status: "completed", input, output: text, title: name, metadata: {}, time: times };
    return { ...made, state: { ...shown, ...(attachments.length > 0 && { attachments }) } };
  }

  #writeBlock(block: TextContent | ImageContent, messageID: string): object {
    if (block.type === "text") return this.#makePart(messageID, { type: "text", text: block.text });
    const { mimeType: mime } = block;
    const filename = `image.${/^image\/([a-z0-9]+)/.exec(mime)?.[1] ?? "bin"}`;
    return this.#makePart(messageID, { type: "file", mime, filename, url: toDataUrl(block) });
  }

  #makePart(messageID: string, fields: object): object {
    return { id: this.#ids.make("prt"), sessionID: this.#sessionID, messageID, ...fields };
  }
}

/** Parses a model in the format of OpenCode's command line. */
function parseModel(model: string | undefined): ModelName | undefined {
  if (model === undefined) return undefined;
  const [, providerID, modelID] = /^([^/]+)\/(.+)$/.exec(model) ?? [];
  if (providerID === undefined || modelID === undefined)
    throw new TypeError(
      `The model ${JSON.stringify(model)} is not PROVIDER/MODEL, such as anthropic/claude-opus-4-8.`,
    );
  return { providerID, modelID };
}

function findLastModel(turns: readonly ContinuedTurn[]): ModelName {
  for (const { message } of turns.toReversed()) {
    const name = toModelName(message);
    if (name !== undefined) return name;
  }
  return { providerID: UNKNOWN_NAME, modelID: UNKNOWN_NAME };
}

function toModelName(message: ContinuedTurn["message"]): ModelName | undefined {
  if (message.role !== "assistant") return undefined;
  const { provider, model } = message;
  return typeof provider === "string" && typeof model === "string"
    ? { providerID: provider, modelID: model }
    : undefined;
}
