import { type BedrockRequest, fromBedrock, toBedrock } from "sessiontree/convert";
import { describe, it } from "vitest";
import type { ImageContent, ThinkingContent } from "../../../src/core/format/content.ts";
import { toWire } from "../../../src/interop/convert/bedrock/bedrock-content.ts";
import fc from "../../support/fast-check.ts";
import { checkBedrockRequest } from "../../support/provider-rules/bedrock.ts";
import { type Sayable, textBlock, words } from "./support/conversations.ts";
import { checkHostile, checkRepeated, checkSaid, type RoundTrip } from "./support/round-trips.ts";

const identity = {
  api: "bedrock-converse-stream",
  provider: "amazon-bedrock",
  model: "anthropic.claude-sonnet-5-5-v1:0",
};

/** The SDK has bytes, so only their encoded form is restored. */
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 9 })
  .map((bytes) => Buffer.from(bytes).toString("base64"));

const thinking = fc.oneof(
  fc.tuple(words, words).map(
    ([text, thinkingSignature]): ThinkingContent => ({
      type: "thinking",
      thinking: text,
      thinkingSignature,
    }),
  ),
  base64.map(
    (thinkingSignature): ThinkingContent => ({
      ...{ type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature, redacted: true },
    }),
  ),
);

const image = fc
  .tuple(base64, fc.constantFrom("image/png", "image/jpeg", "image/gif", "image/webp"))
  .map(([data, mimeType]): ImageContent => ({ type: "image", data, mimeType }));

const blocks = fc.array(fc.oneof(textBlock, image), { minLength: 1, maxLength: 3 });

const form: Sayable = {
  identity,
  thinking: fc.array(thinking, { maxLength: 2 }),
  texts: fc.array(textBlock, { maxLength: 2 }),
  callId: fc.stringMatching(/^tooluse_[a-zA-Z0-9]{1,8}$/),
  user: blocks,
  result: fc.record({ content: blocks, isError: fc.boolean() }),
  repeatsRoles: false,
};

const TRIP: RoundTrip<Omit<BedrockRequest, "issues">> = {
  identity,
  to: (messages, options) => {
    const { issues, ...request } = toBedrock(messages, options);
    return { request, issues };
  },
  from: fromBedrock,
  check: (request) => (request.messages.length > 0 ? checkBedrockRequest(toWire(request)) : []),
  options: fc.constant({}),
};

describe("toBedrock and fromBedrock", () => {
  it("restore what Converse's messages can express, without an issue", () => checkSaid(TRIP, form));

  it("never make an invalid request, and do not change their input", () => checkHostile(TRIP));

  it("make the same request again from what they read from a request", () => checkRepeated(TRIP));
});
