import { expectTypeOf, test } from "vitest";
import type { ToolCall } from "../../src/core/format/content.ts";
import type * as entry from "../../src/core/format/entry.ts";
import { sessionEntry, sessionHeader } from "../../src/core/format/entry-shapes.ts";
import type { SessionHeader } from "../../src/core/format/header.ts";
import type { JsonValue } from "../../src/core/format/json.ts";
import { agentMessage, type KnownMessage } from "../../src/core/format/message-shapes.ts";
import {
  arrayOf,
  boolean,
  json,
  jsonObject,
  number,
  object,
  oneOf,
  optional,
  orUndefined,
  type Shape,
  string,
  variants,
  words,
} from "../../src/core/format/shape.ts";

// Type expectations fail in the compiler (`npm run types`), not at run time; test/schema tries the shapes on data.

type Put<T, Fields> = Omit<T, keyof Fields> & Fields;
type KnownEntry =
  | Exclude<entry.SessionEntry, { type: "message" | "compaction" }>
  | Put<entry.SessionMessageEntry, { message: KnownMessage }>
  | Put<entry.CompactionEntry, { retainedTail?: KnownMessage[] }>;

test("the unions have a shape for each of their types", () => {
  expectTypeOf(agentMessage).toExtend<Shape<KnownMessage>>();
  expectTypeOf(sessionEntry).toExtend<Shape<KnownEntry>>();
  expectTypeOf(sessionHeader).toExtend<Shape<SessionHeader>>();
  expectTypeOf(sessionEntry).not.toExtend<Shape<Exclude<KnownEntry, { type: "label" }>>>();
});

test("messages in other types are those of the union", () => {
  expectTypeOf<KnownMessage>().toExtend<entry.SessionMessageEntry["message"]>();
  expectTypeOf<KnownMessage[]>().toExtend<NonNullable<entry.CompactionEntry["retainedTail"]>>();
});

const call = {
  type: words("toolCall"),
  id: string,
  name: string,
  arguments: jsonObject<ToolCall["arguments"]>(),
  thoughtSignature: optional(string),
  namespace: optional(string),
} as const;

test("an interface accepts only the equivalent shape", () => {
  object<ToolCall>(call);
  const { namespace, ...lacking } = call;
  // @ts-expect-error An optional field is missing.
  object<ToolCall>(lacking);
  // @ts-expect-error An additional field.
  object<ToolCall>({ ...lacking, namespace, extra: optional(string) });
  // @ts-expect-error A field of another type.
  object<ToolCall>({ ...call, id: number });
  // @ts-expect-error A required field may be missing.
  object<ToolCall>({ ...call, id: optional(string) });
  // @ts-expect-error An optional field is required.
  object<ToolCall>({ ...call, namespace: string });
  // @ts-expect-error A field may be undefined that may only be missing.
  object<ToolCall>({ ...call, namespace: orUndefined(string) });
  // @ts-expect-error Another literal.
  object<ToolCall>({ ...call, type: words("tool_call") });
  // @ts-expect-error Readers cannot require a missing field.
  object<ToolCall>(call, { needed: ["input"] });
});

test("lists, literals, and alternatives must be equal, neither wider nor narrower", () => {
  expectTypeOf(words("ok", "error")).not.toExtend<Shape<"ok" | "error" | "unfinished">>();
  expectTypeOf(words("ok", "error", "unfinished")).not.toExtend<Shape<"ok" | "error">>();
  expectTypeOf(arrayOf(oneOf("either", string, number))).not.toExtend<Shape<string[]>>();
  expectTypeOf(oneOf("either", string, number)).toExtend<Shape<string | number>>();
  expectTypeOf(oneOf("either", string, boolean)).not.toExtend<Shape<string>>();
  expectTypeOf(json<JsonValue>()).not.toExtend<Shape<string>>();
  const one = object<{ type: "a" }>({ type: words("a") });
  expectTypeOf(variants("type", one)).not.toExtend<Shape<{ type: "a" } | { type: "b" }>>();
});
