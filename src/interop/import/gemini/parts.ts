import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import type { AnswerBlock, UserBlock } from "../../convert/dialect.ts";
import { readSpokenPart } from "../../convert/gemini/gemini-content.ts";
import { makePlaceholder, toImage } from "../../convert/images.ts";
import { parseArguments } from "../../convert/tool-arguments.ts";
import { joinContentText, toNonemptyText } from "../source-text.ts";

/** Converts a model's message, from its parts if they include calls or thoughts, or otherwise from its text and other fields. */
export function convertModelMessage(message: JsonRecord): ModelAnswer {
  const parts = toParts(message["content"]);
  const records = toArray(message["toolCalls"]).map(toRecord);
  const isWhole = parts.some((part) => "functionCall" in part || part["thought"] === true);
  const answer = new ModelAnswer(toNonemptyText(message["id"]) ?? "message", records);
  if (!isWhole) for (const thought of toArray(message["thoughts"])) answer.addThought(toRecord(thought));
  for (const part of parts) answer.addPart(part);
  if (!isWhole) for (const record of records) answer.addCall(toRecord(record), record, undefined);
  return answer;
}

/** A call in a model's message. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  /** Gemini CLI's record of the call. */
  readonly record: JsonRecord | undefined;
  /** Whether the id is from the source. Models before Gemini 3 do not provide an id. */
  readonly isNamed: boolean;
}

/** Calls in the latest answer that do not have results yet, in order. */
export class OpenCalls {
  #calls: readonly ModelCall[] = [];

  begin(calls: readonly ModelCall[]): void {
    this.#calls = calls;
  }

  add(calls: readonly ModelCall[]): void {
    this.#calls = [...this.#calls, ...calls];
  }

  /**
   * Removes and returns the call that a result answers: the call with the result's id or, failing that, the next call of the same
   * tool. If the result has an id, that call must not have one.
   */
  takeAnswered(id: string | undefined, name: string | undefined): ModelCall | undefined {
    const call =
      this.#calls.find((one) => one.isNamed && one.id === id) ??
      this.#calls.find((one) => one.name === name && (id === undefined || !one.isNamed));
    this.#calls = this.#calls.filter((one) => one !== call);
    return call;
  }
}

/** A converted model message. */
export class ModelAnswer {
  readonly content: AnswerBlock[] = [];
  /** Parts that a message cannot contain. */
  readonly others: unknown[] = [];
  readonly calls: ModelCall[] = [];
  readonly #messageId: string;
  readonly #open: JsonRecord[];

  constructor(messageId: string, records: readonly JsonRecord[]) {
    this.#messageId = messageId;
    this.#open = [...records];
  }

  addThought({ subject, description }: JsonRecord): void {
    const heading = toNonemptyText(subject) === undefined ? "" : `**${toSafeString(subject)}** `;
    this.content.push({ type: "thinking", thinking: `${heading}${toNonemptyText(description) ?? ""}` });
  }

  addPart(part: JsonRecord): void {
    const { functionCall, thoughtSignature } = part;
    if (functionCall !== undefined) {
      const call = toRecord(functionCall);
      this.addCall(call, this.#recordFor(call), toNonemptyText(thoughtSignature));
      return;
    }
    const block = readSpokenPart(part);
    if (block === undefined) this.others.push(part);
    else if (block.type !== "text" || block.text !== "" || block.textSignature !== undefined)
      this.content.push(block);
  }

  addCall(call: JsonRecord, record: JsonRecord | undefined, signature: string | undefined): void {
    const told = toNonemptyText(call["id"]) ?? toNonemptyText(record?.["id"]);
    const id = told ?? `${this.#messageId}-${this.calls.length}`;
    const name = toNonemptyText(call["name"]) ?? "unknown";
    this.content.push({
      type: "toolCall",
      id,
      name,
      arguments: parseArguments(call["args"]) ?? {},
      ...(signature !== undefined && { thoughtSignature: signature }),
    });
    this.calls.push({ id, name, record, isNamed: told !== undefined });
  }

  /** Finds a call's record by id or, failing that, the next record for a tool with the same name. */
  #recordFor({ id, name }: JsonRecord): JsonRecord | undefined {
    const byId = this.#open.findIndex((record) => id !== undefined && record["id"] === id);
    const at = byId === -1 ? this.#open.findIndex((record) => record["name"] === name) : byId;
    return at === -1 ? undefined : this.#open.splice(at, 1)[0];
  }
}

function toParts(content: unknown): JsonRecord[] {
  const parts = Array.isArray(content) ? content : [content];
  return parts.flatMap((part) => {
    if (typeof part === "string") return part === "" ? [] : [{ text: part }];
    const fields = toRecord(part);
    return Object.keys(fields).length === 0 ? [] : [fields];
  });
}

/** Converts input that was sent to the model: text and images. Every other part is replaced with a short description. */
export function convertSentParts(content: unknown): UserBlock[] {
  return toParts(content).flatMap(toSentBlocks);
}

function toSentBlocks(part: JsonRecord): UserBlock[] {
  const { text, inlineData, fileData, functionResponse } = part;
  if (typeof text === "string") return text === "" ? [] : [{ type: "text", text }];
  if (inlineData !== undefined) {
    const { data, mimeType } = toRecord(inlineData);
    return [toImage(mimeType, data) ?? makePlaceholder(toSafeString(mimeType))];
  }
  if (fileData !== undefined) return [makePlaceholder("file", toSafeString(toRecord(fileData)["fileUri"]))];
  if (functionResponse !== undefined) return toResponseBlocks(toRecord(functionResponse));
  return [makePlaceholder(Object.keys(part)[0] ?? "part")];
}

/** Result of a tool, in the format sent to the model. */
export interface SentResponse {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly content: UserBlock[];
  readonly isError: boolean;
}

/** Returns the tool results in input that was sent to the model. */
export function getSentResponses(content: unknown): SentResponse[] {
  return toParts(content).flatMap(({ functionResponse }) => {
    if (functionResponse === undefined) return [];
    const response = toRecord(functionResponse);
    const isError = toRecord(response["response"])["error"] !== undefined;
    return [
      {
        id: toNonemptyText(response["id"]),
        name: toNonemptyText(response["name"]),
        content: toResponseBlocks(response),
        isError,
      },
    ];
  });
}

/**
 * Returns whether a message is not a prompt but a command to Gemini CLI, or text that Gemini CLI or a hook inserted before a
 * prompt.
 */
export function isAside({ content }: JsonRecord): boolean {
  const text = joinContentText(content).trim();
  if (/^[/?]|^<(?:session_context|hook_context)>/.test(text)) return true;
  return text === "" && !Array.isArray(content);
}

function toResponseBlocks({ response, parts }: JsonRecord): UserBlock[] {
  const { output, error } = toRecord(response);
  const said = output ?? error ?? response;
  const text = typeof said === "string" ? said : encodeParsed(said ?? {});
  const blocks: UserBlock[] = text === "" ? [] : [{ type: "text", text }];
  return [...blocks, ...convertSentParts(toArray(parts))];
}

/** Returns a tool's output, as far as Gemini CLI stored it; undefined if the earlier import did not store any. */
export function findCallResult(record: JsonRecord): { content: UserBlock[]; isError: boolean } | undefined {
  const { result, status, resultDisplay } = record;
  const isError = status === "error" || status === "cancelled";
  if (result !== undefined && result !== null) return { content: convertSentParts(result), isError };
  if (!isError) return undefined;
  return { content: [{ type: "text", text: toNonemptyText(resultDisplay) ?? String(status) }], isError };
}
