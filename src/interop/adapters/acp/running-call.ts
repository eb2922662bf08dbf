import { jsonOf, textOf } from "../../../core/context/message-parts.ts";
import type { ToolCall } from "../../../core/format/content.ts";
import { isJsonRecord, type JsonObject } from "../../../core/format/json.ts";
import type { ToolResultMessage } from "../../../core/format/message.ts";
import type { UserBlock } from "../../convert/dialect.ts";
import { placeholder } from "../../convert/images.ts";
import { storeData } from "../stored-data.ts";
import type { AcpToolContent } from "./acp-types.ts";
import { ACP_DETAIL, type CallFacts, readFacts } from "./call-facts.ts";
import { fromBlock, isWholeBlock } from "./content-blocks.ts";

/** A call of a tool, of which each update tells more. */
export class RunningCall {
  /** The call in its answer, which never changes once it is complete: it may be stored by then. */
  readonly block: ToolCall;
  hasEnded = false;
  #hasFailed = false;
  #name = "";
  #rawInput: JsonObject[string] | undefined;
  #facts: CallFacts = {};

  constructor(id: string) {
    this.block = { type: "toolCall", id, name: "", arguments: {} };
  }

  /** Whether it has put something out. */
  get hasOutput(): boolean {
    return this.#facts.content !== undefined || this.#facts.rawOutput !== undefined;
  }

  update(update: JsonObject): void {
    const { name, rawInput, status } = update;
    if (typeof name === "string" && name !== "") this.#name = name;
    if (rawInput !== undefined && rawInput !== null) this.#rawInput = rawInput;
    this.#facts = { ...this.#facts, ...readFacts(update) };
    this.#hasFailed = status === "failed";
    this.hasEnded ||= status === "completed" || status === "failed";
  }

  /** Completes the call in its answer, with what is known of it so far. */
  complete(): void {
    const { kind = "tool", title } = this.#facts;
    const input = this.#rawInput;
    this.block.name = this.#name || kind;
    if (isJsonRecord(input)) this.block.arguments = input;
    else if (input !== undefined) this.block.arguments = { input };
    else if (title !== undefined) this.block.arguments = { title };
  }

  /** Makes the result. What a message cannot hold of it is kept in `details`. */
  result(timestamp: number): ToolResultMessage {
    const { content = [], rawOutput } = this.#facts;
    const isWhole = content.every((part) => part.type === "content" && isWholeBlock(part.content));
    const { content: _content, ...facts } = this.#facts;
    const kept = storeData(isWhole ? facts : this.#facts, "a result");
    const { id, name } = this.block;
    return {
      role: "toolResult",
      toolCallId: id,
      toolName: name,
      content: content.length > 0 ? content.map(shownBlock) : outputBlocks(rawOutput),
      ...(Object.keys(kept).length > 0 && { details: { [ACP_DETAIL]: kept } }),
      isError: this.#hasFailed,
      timestamp,
    };
  }
}

function shownBlock(part: AcpToolContent): UserBlock {
  if (part.type === "content") return fromBlock(part.content);
  return part.type === "diff" ? placeholder("diff", part.path) : placeholder("terminal", part.terminalId);
}

function outputBlocks(output: unknown): UserBlock[] {
  if (output === undefined) return [];
  return [{ type: "text", text: textOf(output) || jsonOf(output) }];
}
