import {
  fromAnthropic,
  fromGemini,
  fromOpenAIChat,
  fromOpenAIResponses,
  fromUIMessages,
  toAnthropic,
  toGemini,
  toOpenAIChat,
  toOpenAIResponses,
  toUIMessages,
} from "sessiontree/convert";
import { expect, test } from "vitest";
import fc from "../../support/fast-check.ts";
import {
  anthropicMessages,
  geminiContents,
  openAIChatMessages,
  openAIResponsesItems,
  uiMessages,
} from "./support/provider-messages.ts";

const options = { timestamp: 0, model: "m" };

/** Lists the objects in a value: messages, parts, and their contents. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inner : [value, ...inner];
}

function isSpoken(value: object): boolean {
  return JSON.stringify(value) === '{"id":"audio_1"}';
}

/**
 * Adds a field that no converter recognizes to a message in a list, or to its contents, and returns a copy of the list.
 *
 * Skips spoken output, which goes back by its id alone.
 */
function marked<T>(list: T, at: number): T {
  const copy: T = JSON.parse(JSON.stringify(list));
  const objects = objectsIn(copy).filter((one) => !isSpoken(one));
  fc.pre(objects.length > 0);
  Object.assign(objects[at % objects.length] ?? {}, { unheardOf: "mark" });
  return copy;
}

/** A round trip: the restored messages and the codes of the issues. */
type Trip<T> = (list: T) => [unknown, readonly { readonly code: string }[]];

function check<T>(lists: fc.Arbitrary<T>, trip: Trip<T>) {
  fc.assert(
    fc.property(lists, fc.nat(60), (list, at) => {
      const [again, issues] = trip(marked(list, at));
      const isNamed = issues.some(({ code }) => code !== "KEPT_IN_DETAILS");
      expect(isNamed || JSON.stringify(again).includes('"unheardOf":"mark"')).toBe(true);
    }),
    { numRuns: 300 },
  );
}

test("restores or reports an unknown field: Anthropic", () => {
  check(anthropicMessages(), (list) => {
    const read = fromAnthropic(list, options);
    const { messages, issues } = toAnthropic(read.messages, options);
    return [messages, [...read.issues, ...issues]];
  });
});

test("restores or reports an unknown field: OpenAI's responses", () => {
  check(openAIResponsesItems(), (list) => {
    const read = fromOpenAIResponses(JSON.parse(JSON.stringify(list)), options);
    const { input, issues } = toOpenAIResponses(read.messages, options);
    return [input, [...read.issues, ...issues]];
  });
});

test("restores or reports an unknown field: OpenAI's chat", () => {
  check(openAIChatMessages(), (list) => {
    const read = fromOpenAIChat(JSON.parse(JSON.stringify(list)), options);
    const { messages, issues } = toOpenAIChat(read.messages, options);
    return [messages, [...read.issues, ...issues]];
  });
});

test("restores or reports an unknown field: Gemini", () => {
  check(geminiContents(), (list) => {
    const read = fromGemini(list, { ...options, model: "gemini-3-pro" });
    const { contents, issues } = toGemini(read.messages, { model: "gemini-3-pro" });
    return [contents, [...read.issues, ...issues]];
  });
});

test("restores or reports an unknown field: UI messages", () => {
  check(uiMessages(), (list) => {
    const read = fromUIMessages(list, options);
    const { messages, issues } = toUIMessages(read.messages);
    return [messages, [...read.issues, ...issues]];
  });
});
