import { textsOf } from "../../../core/context/content-text.ts";
import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import type { AgentMessage, AssistantMessage } from "../../../core/format/message.ts";
import { addBlocks } from "../open-answer.ts";
import { type AnsweringModel, emptyAnswer } from "./answer.ts";
import {
  answerBlocks,
  callId,
  inputBlocks,
  isHarnessText,
  itemRole,
  itemType,
  resultOf,
} from "./response-items.ts";

/**
 * Converts the history that a compaction leaves.
 *
 * @returns The messages that are kept; the text of the item that looks like the summary, empty if there is none; and
 *   whether there is an item that only its provider can read.
 */
export function readReplacement(
  items: unknown,
  summary: string,
  model: AnsweringModel,
  timestamp: number,
): { readonly messages: AgentMessage[]; readonly summary: string; readonly isOpaque: boolean } {
  const reader = new ReplacementReader(model, timestamp);
  const all = listOf(items).map(fieldsOf);
  const userTexts = all.map((item) =>
    itemRole(item) === "user" ? textsOf(inputBlocks(item["content"])).join("") : "",
  );
  // The summary comes last; an earlier prompt with the same text is a prompt.
  const at = summary === "" ? -1 : userTexts.lastIndexOf(summary);
  for (const [i, item] of all.entries()) if (i !== at) reader.take(item);
  const found = summary === "" ? (userTexts.findLast((text) => text !== "") ?? "") : summary;
  return { messages: reader.messages, summary: found, isOpaque: reader.isOpaque };
}

class ReplacementReader {
  readonly messages: AgentMessage[] = [];
  isOpaque = false;
  readonly #model: AnsweringModel;
  readonly #timestamp: number;
  readonly #calls = new Map<string, { id: string; name: string }>();
  #answer: AssistantMessage | undefined;

  constructor(model: AnsweringModel, timestamp: number) {
    this.#model = model;
    this.#timestamp = timestamp;
  }

  take(item: JsonRecord): void {
    const role = itemRole(item);
    if (role === "answer") {
      this.#addAnswer(item);
      return;
    }
    if (role === "opaque") this.isOpaque = true;
    const message = this.#messageOf(role, item);
    if (message === undefined) return;
    this.#answer = undefined;
    this.messages.push(message);
  }

  #addAnswer(item: JsonRecord): void {
    if (this.#answer === undefined) {
      this.#answer = emptyAnswer(this.#model, this.#timestamp);
      this.messages.push(this.#answer);
    }
    const blocks = answerBlocks(item);
    for (const block of blocks) {
      if (block.type === "toolCall") {
        this.#calls.set(String(item["call_id"]), { id: callId(item), name: block.name });
      }
    }
    addBlocks(this.#answer, blocks);
  }

  #messageOf(role: ReturnType<typeof itemRole>, item: JsonRecord): AgentMessage | undefined {
    const timestamp = this.#timestamp;
    if (role === "result") {
      const call = this.#calls.get(String(item["call_id"]));
      const { content, isError = false } = resultOf(item);
      const toolCallId = call?.id ?? String(item["call_id"]);
      const toolName = call?.name ?? "unknown";
      return { role: "toolResult", toolCallId, toolName, content, isError, timestamp };
    }
    if (role !== "user" && role !== "instructions" && role !== "agent") return undefined;
    const content = inputBlocks(item["content"]);
    if (role === "user" && !isHarnessText(textsOf(content).join("")))
      return { role: "user", content, timestamp };
    const customType =
      role === "instructions"
        ? "codex.instructions"
        : `codex.${role === "user" ? "context" : itemType(item)}`;
    return { role: "custom", customType, content, display: false, timestamp };
  }
}
