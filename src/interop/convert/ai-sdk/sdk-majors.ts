import { blocksOf, fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import type { ConversionIssues } from "../conversion-issue.ts";
import { rawOf } from "../raw-form.ts";
import { base64Of } from "./file-data.ts";
import type {
  AiSdkMajor,
  ModelMessage,
  ModelTextPart,
  ModelToolOutput,
  ModelToolOutputPart,
  ModelToolResultPart,
} from "./model-message-types.ts";
import { readOutput, readResult, readUser } from "./model-parts.ts";

/** The first and the last major that know something. */
type Span = readonly [AiSdkMajor, AiSdkMajor];
type Spans = ReadonlyMap<unknown, Span>;

/** Parts of messages that not every major knows. */
const PARTS: Spans = new Map([
  ["tool-approval-request", [6, 7]],
  ["custom", [7, 7]],
  ["reasoning-file", [7, 7]],
]);

/** Outputs of tools that not every major knows. */
const OUTPUTS: Spans = new Map([["execution-denied", [6, 7]]]);

/** Parts of outputs that not every major knows. */
const OUTPUT_PARTS: Spans = new Map([
  ["media", [5, 6]],
  ["image-data", [6, 7]],
  ["image-url", [6, 7]],
  ["image-file-id", [6, 7]],
  ["file-data", [6, 7]],
  ["file-url", [6, 7]],
  ["file-id", [6, 7]],
  ["custom", [6, 7]],
  ["file", [7, 7]],
  ["file-reference", [7, 7]],
  ["image-file-reference", [7, 7]],
]);

/** How each major writes a file in the output of a tool. */
const WRITE_FILE: {
  readonly [Major in AiSdkMajor]: (data: string, mediaType: string) => ModelToolOutputPart<Major>;
} = {
  5: (data, mediaType) => ({ type: "media", data, mediaType }),
  6: (data, mediaType) => {
    const type = mediaType.startsWith("image/") ? "image-data" : "file-data";
    return { type, data, mediaType };
  },
  7: (data, mediaType) => ({ type: "file", data: { type: "data", data }, mediaType }),
};

/** Writes messages as a major of the AI SDK takes them. */
export class SdkDialect {
  readonly #major: AiSdkMajor;
  readonly #issues: ConversionIssues;

  /**
   * @param named - The major that the caller names. Default: the oldest that takes the latest file among the results of tools.
   * @throws {TypeError} If it is another one than 5, 6 or 7.
   */
  constructor(named: AiSdkMajor | undefined, messages: readonly AgentMessage[], issues: ConversionIssues) {
    if (named !== undefined && !Object.hasOwn(WRITE_FILE, String(named)))
      throw new TypeError(`The AI SDK's versions are 5, 6 and 7; ${String(named)} is none of them.`);
    this.#major = named ?? majorIn(messages) ?? 7;
    this.#issues = issues;
  }

  /** Returns the messages with parts that the major knows. */
  fit(messages: readonly ModelMessage[], index: number): ModelMessage<AiSdkMajor>[] {
    return messages.flatMap((message): ModelMessage<AiSdkMajor>[] => {
      if (typeof message.content === "string") return [message];
      if (message.role === "tool")
        return [{ ...message, content: message.content.map((part) => this.#fitResult(part, index)) }];
      if (message.role === "user")
        return [{ ...message, content: message.content.map((part) => this.#fitFile(part, index)) }];
      const known = message.content.filter(({ type }) => this.#knows(PARTS, type));
      if (known.length < message.content.length) this.#report("BLOCK_DROPPED", index, "Dropped");
      return known.length === 0
        ? []
        : [{ ...message, content: known.map((part) => this.#fitFile(part, index)) }];
    });
  }

  /** Before version 7, a file's data is a text. */
  #fitFile<Part extends object>(part: Part, index: number): Part | ModelTextPart {
    const { type, data } = fieldsOf(part);
    if (this.#major === 7 || type !== "file" || typeof data === "string") return part;
    const { url, data: inner = url } = fieldsOf(data);
    if (typeof inner === "string") return Object.assign({}, part, { data: inner });
    return this.#asText(readUser([part]), index);
  }

  #fitResult(part: ModelToolResultPart, index: number): ModelToolResultPart<AiSdkMajor> {
    const { output } = part;
    return { ...part, output: this.#fitOutput(part, output, index) };
  }

  #fitOutput(part: ModelToolResultPart, output: ModelToolOutput, index: number): ModelToolOutput<AiSdkMajor> {
    if (!this.#knows(OUTPUTS, output.type))
      return { type: "error-text", value: this.#asText(readResult(part)?.content, index).text };
    if (output.type !== "content") return output;
    return { ...output, value: output.value.map((one) => this.#fitOutputPart(one, index)) };
  }

  #fitOutputPart(part: ModelToolOutputPart, index: number): ModelToolOutputPart<AiSdkMajor> {
    if (this.#knows(OUTPUT_PARTS, part.type)) return part;
    const { data, mediaType } = fieldsOf(part);
    const base64 = base64Of(data);
    if (base64 !== undefined && typeof mediaType === "string")
      return WRITE_FILE[this.#major](base64, mediaType);
    const [block] = readOutput("content", [part]);
    if (block?.type === "image") return WRITE_FILE[this.#major](block.data, block.mimeType);
    return this.#asText([block], index);
  }

  #knows(spans: Spans, type: unknown): boolean {
    const [first, last] = spans.get(type) ?? [5, 7];
    return first <= this.#major && this.#major <= last;
  }

  #asText(content: unknown, index: number): ModelTextPart {
    this.#report("CONTENT_REPLACED", index, "Replaced by a text");
    const { text } = fieldsOf(listOf(content)[0]);
    return { type: "text", text: String(text ?? "") };
  }

  #report(code: "BLOCK_DROPPED" | "CONTENT_REPLACED", index: number, done: string): void {
    this.#issues.report(code, index, `${done} what version ${this.#major} of the AI SDK does not know.`);
  }
}

/** Returns the oldest major that takes the latest file in the output of a tool; undefined if there is none. */
function majorIn(messages: readonly AgentMessage[]): AiSdkMajor | undefined {
  const majors = messages.flatMap((message) => {
    if (message.role !== "toolResult") return [];
    const { type, value } = fieldsOf(fieldsOf(rawOf(message, "modelMessage"))["output"]);
    const kept = type === "content" ? listOf(value) : [];
    const [first] = kept.flatMap((part) => OUTPUT_PARTS.get(fieldsOf(part)["type"])?.[0] ?? []);
    // An original in the shape of version 7 is not kept, as that is what is written.
    return first ?? (blocksOf(message.content).some((block) => fieldsOf(block)["type"] === "image") ? 7 : []);
  });
  return majors.at(-1);
}
