import { z } from "zod";
import { toolArgumentsSchema } from "./json-schema.ts";
import { listOf } from "./list-schema.ts";

/** Schema of `TextContent`. */
export const textContentSchema = z.looseObject({
  type: z.literal("text"),
  text: z.string(),
  textSignature: z.string().exactOptional(),
});

/** Schema of `ImageContent`. */
export const imageContentSchema = z.looseObject({
  type: z.literal("image"),
  data: z.string(),
  mimeType: z.string(),
});

/** Schema of `ThinkingContent`. */
export const thinkingContentSchema = z.looseObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  thinkingSignature: z.string().exactOptional(),
  redacted: z.boolean().exactOptional(),
});

/** Schema of `ToolCall`. */
export const toolCallSchema = z.looseObject({
  type: z.literal("toolCall"),
  id: z.string(),
  name: z.string(),
  arguments: toolArgumentsSchema,
  thoughtSignature: z.string().exactOptional(),
  namespace: z.string().exactOptional(),
});

/** Schema of `Usage`. */
export const usageSchema = z.looseObject({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  cacheWrite1h: z.number().exactOptional(),
  reasoning: z.number().exactOptional(),
  totalTokens: z.number(),
  cost: z.looseObject({
    input: z.number(),
    output: z.number(),
    cacheRead: z.number(),
    cacheWrite: z.number(),
    total: z.number(),
    totalFromProvider: z.boolean().exactOptional(),
  }),
});

/** Schema of the blocks of a user message, a tool result or a custom message. */
export const textOrImageBlocksSchema = listOf(
  z.discriminatedUnion("type", [textContentSchema, imageContentSchema]),
);

/** Schema of the blocks of an assistant message. */
export const assistantBlocksSchema = listOf(
  z.discriminatedUnion("type", [textContentSchema, thinkingContentSchema, toolCallSchema]),
);

/** Schema of content that is plain text or text and image blocks. */
export const textOrBlocksSchema = z.union([z.string(), textOrImageBlocksSchema], {
  error: "expected a string or an array of blocks",
});
