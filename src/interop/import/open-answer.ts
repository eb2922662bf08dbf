import type { AssistantMessage, StopReason } from "../../core/format/message.ts";
import type { AnswerBlock } from "../convert/dialect.ts";

/** An answer to which later records of its program add. */
type OpenAnswer = Pick<AssistantMessage, "content" | "stopReason" | "errorMessage">;

/** Adds blocks; if a call is among them, the answer ends for a tool. */
export function addBlocks(answer: OpenAnswer, blocks: readonly AnswerBlock[]): void {
  answer.content.push(...blocks);
  if (blocks.some(({ type }) => type === "toolCall")) answer.stopReason = "toolUse";
}

/** Sets why an answer ended, unless it ended for a tool. */
export function endAnswer(answer: OpenAnswer, reason: StopReason, errorMessage?: string): void {
  if (answer.stopReason === "toolUse") return;
  answer.stopReason = reason;
  if (errorMessage !== undefined) answer.errorMessage = errorMessage;
}
