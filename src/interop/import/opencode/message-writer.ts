import type { JsonRecord } from "../../../core/format/json.ts";
import type { UserBlock } from "../../convert/dialect.ts";
import { custom, customMessage, type EntryBody, subagentLink } from "../entry-bodies.ts";
import type { Draft, SessionBuilder } from "../session-builder.ts";
import { member, textOf } from "../source-values.ts";
import { CLEARED_OUTPUT, fileBlock, isOnlyNamed, readResult, readStep, stepsOf } from "./parts.ts";
import { createdMs, type StoredMessage } from "./stored-messages.ts";

/** The entries of a message; undefined if it has none, and none is before it. */
interface MessageEntries {
  readonly first: Draft | undefined;
  readonly last: Draft | undefined;
}

/** Parts that only say where a call of the model begins and ends. */
const BOUNDARIES: ReadonlySet<unknown> = new Set(["step-start", "step-finish", "snapshot"]);

/** What the program sends for a task that the user gave to a subagent. */
const SUBTASK = "The following tool was executed by the user";

/** Makes the entries of messages. */
export class MessageWriter {
  readonly #builder: SessionBuilder;
  readonly #projectId: string;
  /** Outputs that the program has cleared to save room. */
  #cleared: { readonly result: Draft; readonly timeMs: number }[] = [];
  /** When the first of them was cleared, Unix milliseconds. */
  #clearedMs = Number.POSITIVE_INFINITY;

  constructor(builder: SessionBuilder, projectId: string) {
    this.#builder = builder;
    this.#projectId = projectId;
  }

  /** Derives a message's key from what a fork copies, since ids differ there. */
  keyOf({ info }: StoredMessage): string {
    const created = createdMs({ info });
    const mark = created > 0 ? `${this.#projectId} ${String(info["role"])} ${created}` : String(info["id"]);
    return `opencode ${mark}`;
  }

  addPrompt(message: StoredMessage, before: Draft | undefined): MessageEntries {
    const key = this.keyOf(message);
    const time = createdMs(message);
    const blocks = message.parts.map(promptBlock);
    const content = blocks.filter((block) => block !== undefined);
    const [only] = content;
    const position = blocks.findIndex((block) => block !== undefined);
    let [first, last]: (Draft | undefined)[] = [undefined, before];
    for (const [n, part] of message.parts.entries()) {
      if (n === position) {
        const said = content.length === 1 && only?.type === "text" ? only.text : content;
        last = this.#builder.addMessage(key, last, time, { role: "user", content: said });
        first ??= last;
      }
      const body = this.#noteOf(part, blocks[n]);
      if (body === undefined) continue;
      last = this.#builder.add(partKey(key, n), last, time, body);
      first ??= last;
    }
    return { first: first ?? before, last };
  }

  addAnswer(message: StoredMessage, before: Draft | undefined): MessageEntries {
    const { info, parts } = message;
    const key = this.keyOf(message);
    const steps = stepsOf(parts);
    let [first, last]: (Draft | undefined)[] = [undefined, before];
    for (const [n, step] of steps.entries()) {
      const answer = readStep(info, step, steps.length === 1);
      const { content, usage, errorMessage } = answer;
      const time = n === 0 ? createdMs(message) : undefined;
      const stepKey = n === 0 ? key : `${key} step ${n}`;
      if (content.length > 0 || usage.totalTokens > 0 || errorMessage !== undefined) {
        last = this.#builder.addMessage(stepKey, last, time, answer);
        first ??= last;
      } else this.#builder.drop("answer without content");
      for (const part of step) last = this.#addBehindAnswer(stepKey, part, last, message);
      last = this.#addSnapshots(stepKey, step, last);
    }
    return { first: first ?? last, last };
  }

  /** Adds the edits of the context for outputs that were cleared before a time; returns the last entry. */
  clearOutputs(after: Draft | undefined, timeMs: number): Draft | undefined {
    if (this.#clearedMs > timeMs) return after;
    let last = after;
    for (const one of this.#cleared) {
      if (one.timeMs > timeMs) continue;
      const { id } = one.result;
      const body = { type: "context_edit", targetId: id, replacement: { content: CLEARED_OUTPUT } };
      last = this.#builder.add(`opencode cleared ${id}`, last, one.timeMs, body);
    }
    this.#cleared = this.#cleared.filter((one) => one.timeMs > timeMs);
    this.#clearedMs = this.#cleared.reduce(
      (first, one) => Math.min(first, one.timeMs),
      Number.POSITIVE_INFINITY,
    );
    return last;
  }

  /** Adds what a part is beside the answer: the result of a tool, or what has no form in a message. */
  #addBehindAnswer(
    key: string,
    part: JsonRecord,
    last: Draft | undefined,
    { isDeleted }: StoredMessage,
  ): Draft | undefined {
    const { type, id } = part;
    if (BOUNDARIES.has(type)) this.#builder.drop("boundary of a call of the model");
    if (BOUNDARIES.has(type) || type === "text" || type === "reasoning" || type === "patch") return last;
    if (type !== "tool")
      return this.#builder.add(`${key} part ${String(id)}`, last, undefined, this.#keep(part));
    const result = readResult(part);
    if (result === undefined) return last;
    const { toolCallId } = result;
    const state = member(part, "state");
    const { end, compacted } = member(state, "time");
    const draft = this.#builder.addMessage(`${key} result ${toolCallId}`, last, end, result);
    if (typeof compacted === "number" && !isDeleted) {
      this.#cleared.push({ result: draft, timeMs: compacted });
      this.#clearedMs = Math.min(this.#clearedMs, compacted);
    }
    const sessionId = part["tool"] === "task" ? textOf(member(state, "metadata")["sessionId"]) : undefined;
    if (sessionId === undefined) return draft;
    const link = subagentLink({ agentId: sessionId, toolCallId, sessionId });
    return this.#builder.add(`${key} agent ${sessionId}`, draft, end, link);
  }

  /** Adds which states of the files, in the program's own store of snapshots, an answer begins and ends with. */
  #addSnapshots(key: string, step: readonly JsonRecord[], last: Draft | undefined): Draft | undefined {
    const treeIn = (type: string) => textOf(step.find((part) => part["type"] === type)?.["snapshot"]);
    const [before, after] = [treeIn("step-start"), treeIn("step-finish")];
    const patches = step.filter(({ type }) => type === "patch");
    this.#builder.counts.kept += patches.length;
    if (patches.length === 0 && (after === undefined || before === after)) return last;
    const files = patches.flatMap(({ files }) => files);
    const data = { gitTreeBefore: before, gitTreeAfter: after, files };
    return this.#builder.add(`${key} snapshots`, last, undefined, custom("opencode.snapshots", data));
  }

  /** Returns what a part of a prompt is beside the message; undefined if it is in the message as it is. */
  #noteOf(part: JsonRecord, block: UserBlock | undefined): EntryBody | undefined {
    const { type, text, synthetic, ignored } = part;
    if (block?.type === "image" || (block !== undefined && type === "text")) return undefined;
    if (type === "text" && ignored !== true) {
      if (text === "") this.#builder.drop("empty text");
      return synthetic === true && text !== "" ? customMessage("opencode.synthetic", text, false) : undefined;
    }
    if (type === "subtask") return customMessage("opencode.subtask", SUBTASK, false, fieldsOfPart(part));
    return this.#keep(part);
  }

  #keep(part: JsonRecord): EntryBody {
    this.#builder.counts.kept++;
    return custom(`opencode.${textOf(part["type"]) ?? "part"}`, fieldsOfPart(part));
  }
}

/** Returns the key of the entry for a part of a prompt. */
export function partKey(key: string, number: number): string {
  return `${key} part ${number}`;
}

/** Returns a part without its type and its owners. */
function fieldsOfPart({
  id: _,
  type: __,
  sessionID: ___,
  messageID: ____,
  ...fields
}: JsonRecord): JsonRecord {
  return fields;
}

function promptBlock(part: JsonRecord): UserBlock | undefined {
  const { type, text, synthetic, ignored } = part;
  if (type === "file") return isOnlyNamed(part) ? undefined : fileBlock(part);
  const isSaid = type === "text" && typeof text === "string" && text !== "";
  return isSaid && synthetic !== true && ignored !== true ? { type, text } : undefined;
}
