import type { JsonObject } from "../../../core/format/json.ts";
import type { UserMessage } from "../../../core/format/message.ts";
import { storeData } from "../stored-data.ts";
import type { AcpContentBlock } from "./acp-types.ts";
import { ACP_DETAIL } from "./call-facts.ts";
import { fromBlock, isWholeBlock, readBlock } from "./content-blocks.ts";

/** A user message without its time. */
type Question = Pick<UserMessage, "role" | "content"> & { details?: JsonObject };

/**
 * Makes a user message of a prompt of the Agent Client Protocol, to append with `appendMessage`.
 *
 * Texts of embedded resources become texts; links, audio, and images that are none become notes in brackets. The original blocks
 * are kept in `details`, and `toAcpUpdates` sends them again.
 *
 * @throws {TypeError} If a block is none of the protocol.
 */
export function fromAcpPrompt(prompt: readonly object[]): Question {
  return questionOf(
    prompt.map((part, at) => {
      const block = readBlock(part);
      if (block !== undefined) return block;
      throw new TypeError(
        `Block ${at} of the prompt is none of the protocol: it needs a known type and its fields.`,
      );
    }),
  );
}

/** Makes a user message of blocks that were read. */
export function questionOf(blocks: readonly AcpContentBlock[]): Question {
  const isWhole = blocks.every(isWholeBlock);
  return {
    role: "user",
    content: blocks.map(fromBlock),
    ...(!isWhole && { details: { [ACP_DETAIL]: storeData({ content: blocks }, "a prompt") } }),
  };
}
