import { toArray, toContentBlocks, toRecord } from "../../core/context/entry-fields.ts";
import type { ImageContent, TextContent, ToolCall } from "../../core/format/content.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import type { AssistantMessage } from "../../core/format/message.ts";
import type { ConversionIssues } from "./conversion-issue.ts";
import type { AnswerBlock, Dialect, UserBlock } from "./dialect.ts";
import { makePlaceholder } from "./images.ts";

/** Beginning of the issue message for an image that a provider rejects. */
export const IMAGE_REPLACED = "Replaced an image";

/** Returns whether an issue reports an image that was replaced by text. */
export function isImageLost({ code, message }: { readonly code: string; readonly message: string }): boolean {
  return code === "CONTENT_REPLACED" && message.startsWith(IMAGE_REPLACED);
}

/** Removes content that a provider rejects: empty text, thinking from other models, and unknown blocks. */
export class RequestContent {
  readonly #dialect: Dialect;
  readonly #issues: ConversionIssues;

  constructor(dialect: Dialect, issues: ConversionIssues) {
    this.#dialect = dialect;
    this.#issues = issues;
  }

  /** Returns the blocks of an answer that can be sent. */
  ofAnswer(message: AssistantMessage, isOwn: boolean, index: number): AnswerBlock[] {
    const blocks = toArray(message.content);
    const known = blocks.filter(isAnswerBlock);
    if (known.length < blocks.length) this.#dropUnknown(index);
    return known.flatMap((block) => this.#answerBlock(block, isOwn, message, index));
  }

  /** Returns the content of a user message that can be sent, which may be empty. */
  ofUser(content: unknown, index: number): string | UserBlock[] {
    if (typeof content !== "string") return this.ofTool(content, index);
    return this.#dialect.isBlank(content) ? "" : content;
  }

  /** Returns the content of a tool result that can be sent. Some programs store a string instead of blocks. */
  ofTool(content: unknown, index: number): UserBlock[] {
    return toContentBlocks(content).flatMap((block): UserBlock[] => {
      if (isText(block)) return this.#text(block, index);
      if (isImage(block)) return [this.#image(block, index)];
      this.#dropUnknown(index);
      return [];
    });
  }

  toolName(name: unknown, index: number): string {
    const fitting = this.#dialect.fitName(typeof name === "string" && name !== "" ? name : "unknown");
    if (fitting !== name)
      this.#issues.report("ID_CHANGED", index, `Renamed tool ${JSON.stringify(name)} to ${fitting}.`);
    return fitting;
  }

  #answerBlock(block: AnswerBlock, isOwn: boolean, answer: AssistantMessage, index: number): AnswerBlock[] {
    const { api } = answer;
    if (block.type === "thinking") {
      if (isOwn && this.#dialect.canReplay(block, answer)) return [block];
      this.#issues.report("THINKING_DROPPED", index, "Dropped thinking that the model would reject.");
      return [];
    }
    const kept = this.#signed(block, isOwn, api, index);
    if (kept.type === "text") {
      const { textSignature: signature } = kept;
      const isKept = signature !== undefined && this.#dialect.keepsSignedText(signature, api);
      return isKept ? [kept] : this.#text(kept, index);
    }
    const name = this.toolName(kept.name, index);
    return [{ ...kept, name, arguments: this.#arguments(kept.arguments, index) }];
  }

  /** Returns a block, without its signature if the target model cannot use it. */
  #signed(block: TextContent | ToolCall, isOwn: boolean, api: string, index: number): TextContent | ToolCall {
    const signature: unknown = block.type === "text" ? block.textSignature : block.thoughtSignature;
    if (signature === undefined) return block;
    if (isOwn && typeof signature === "string" && this.#dialect.isSignature(signature, api)) return block;
    this.#issues.report("SIGNATURE_DROPPED", index, `Dropped the signature of a ${block.type} block.`);
    const none = { textSignature: undefined, thoughtSignature: undefined };
    const { textSignature: _text, thoughtSignature: _thought, ...unsigned } = { ...none, ...block };
    return unsigned;
  }

  #text(block: TextContent, index: number): TextContent[] {
    if (!this.#dialect.isBlank(block.text)) return [block];
    this.#issues.report("BLOCK_DROPPED", index, "Dropped an empty text.");
    return [];
  }

  #image(block: ImageContent, index: number): UserBlock {
    const isKnown = this.#dialect.imageTypes?.has(block.mimeType) ?? true;
    if (isKnown && block.data !== "") return block;
    this.#issues.report("CONTENT_REPLACED", index, `${IMAGE_REPLACED} of type ${block.mimeType} with text.`);
    return makePlaceholder("image", block.mimeType);
  }

  #arguments(args: unknown, index: number): Record<string, unknown> {
    if (isJsonRecord(args)) return args;
    this.#issues.report(
      "CONTENT_REPLACED",
      index,
      "Replaced the arguments of a tool call with {} because they are not an object.",
    );
    return {};
  }

  #dropUnknown(index: number): void {
    this.#issues.report("BLOCK_DROPPED", index, "Dropped a block of unknown type.");
  }
}

function isText(block: unknown): block is TextContent {
  const { type, text } = toRecord(block);
  return type === "text" && typeof text === "string";
}

function isImage(block: unknown): block is ImageContent {
  const { type, data, mimeType } = toRecord(block);
  return type === "image" && typeof data === "string" && typeof mimeType === "string";
}

function isAnswerBlock(block: unknown): block is AnswerBlock {
  const { type, thinking, id } = toRecord(block);
  if (type === "thinking") return typeof thinking === "string";
  return type === "toolCall" ? typeof id === "string" : isText(block);
}
