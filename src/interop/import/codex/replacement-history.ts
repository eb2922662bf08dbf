import { textsOf } from "../../../core/context/content-text.ts";
import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import type { AgentMessage, AssistantMessage } from "../../../core/format/message.ts";
import { addBlocks } from "../open-answer.ts";
import { textOf } from "../source-values.ts";
import { type AnsweringModel, emptyAnswer } from "./answer.ts";
import {
  answerBlocks,
  type CodexCall,
  inputBlocks,
  itemRole,
  itemType,
  readProgramText,
  resultOf,
} from "./response-items.ts";

/**
 * Converts the history that a compaction leaves.
 *
 * @param knownCalls - The thread's calls by the ids that results name: their ids stay, as results may come later.
 * @returns The messages that are kept; the text of the item that looks like the summary, empty if there is none; and
 *   whether there is an item that only its provider can read.
 */
export function readReplacement(
  items: unknown,
  summary: string,
  model: AnsweringModel,
  timestamp: number,
  knownCalls: ReadonlyMap<string, CodexCall>,
): { readonly messages: AgentMessage[]; readonly summary: string; readonly isOpaque: boolean } {
  const reader = new ReplacementReader(model, timestamp, knownCalls);
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
  readonly #calls: Map<string, CodexCall>;
  #answer: AssistantMessage | undefined;

  constructor(model: AnsweringModel, timestamp: number, knownCalls: ReadonlyMap<string, CodexCall>) {
    this.#calls = new Map(knownCalls);
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
      if (block.type !== "toolCall") continue;
      const named = textOf(item["call_id"]) ?? block.id;
      const { id = block.id } = this.#calls.get(named) ?? {};
      block.id = id;
      this.#calls.set(named, { id, name: block.name });
    }
    addBlocks(this.#answer, blocks);
  }

  #messageOf(role: ReturnType<typeof itemRole>, item: JsonRecord): AgentMessage | undefined {
    const timestamp = this.#timestamp;
    if (role === "result") {
      const named = textOf(item["call_id"]) ?? "";
      const { id: toolCallId = named, name: toolName = "unknown" } = this.#calls.get(named) ?? {};
      const { content, isError = false } = resultOf(item);
      return { role: "toolResult", toolCallId, toolName, content, isError, timestamp };
    }
    if (role !== "user" && role !== "agent") return undefined;
    const content = inputBlocks(item["content"]);
    const own = role === "user" ? readProgramText(textsOf(content).join("")) : undefined;
    if (role === "user" && own === undefined) return { role: "user", content, timestamp };
    // The program's own texts are in no context.
    if (own?.isReport === false) return undefined;
    const customType = `codex.${own?.kind ?? itemType(item)}`;
    return { role: "custom", customType, content, display: true, timestamp };
  }
}
