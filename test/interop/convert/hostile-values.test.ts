import { expect, test } from "vitest";
import type { Message } from "../../../src/core/format/message.ts";
import { validateEntry } from "../../../src/core/format/validate.ts";
import { encodeRecord } from "../../../src/core/jsonl/encode.ts";
import { makeRichMessages } from "../../property/support/rich-session.ts";
import { isTypedError, replaceEachValue, takeTried } from "../../support/hostile-values.ts";
import { RICH_MESSAGES, type RichMessages, WRITERS } from "./support/rich-messages.ts";

/** Returns the problems of a message as it is stored. */
function findProblems(message: Message): readonly string[] {
  const head = { type: "message", id: "0a1b2c3d", parentId: null, timestamp: "2026-02-03T22:52:06.410Z" };
  const found = validateEntry(JSON.parse(encodeRecord({ ...head, message })));
  return found.ok ? [] : found.problems;
}

/** Converts messages; undefined if a value in them is refused by name. */
function convertUnlessRefused({ convert }: RichMessages, given: unknown): readonly Message[] | undefined {
  try {
    return convert(given);
  } catch (error) {
    if (isTypedError(error)) return undefined;
    throw error;
  }
}

const circle: object[] = [];
circle.push(circle);

/** Uses of a value of the wrong type that the engine refuses. */
const ENGINE_REFUSALS: readonly ((value: never) => unknown)[] = [
  ({ a }: { a: unknown }) => a,
  ([first]: unknown[]) => first,
  (value: unknown[]) => Math.max(...Array.from(value, Number), ...value.map(Number)),
  (value: { a: { b: unknown } }) => value.a.b,
  (value: string) => value.startsWith("a"),
  (value: object) => "a" in value,
  () => JSON.stringify(circle),
  () => JSON.stringify({ n: 1n }),
  (value: never) => new Map([value]),
  (value: string) => Buffer.from(value, "utf8"),
  (value: string) => `${Object.assign(Object.create(null), { value })}`,
];

test("errors of the engine do not count as named values", () => {
  for (const use of ENGINE_REFUSALS) {
    for (const value of [null, undefined, 5]) {
      try {
        Reflect.apply(use, undefined, [value]);
      } catch (error) {
        expect(isTypedError(error), String(error)).toBe(false);
        continue;
      }
      expect(value, `${use} accepts 5`).toBe(5);
    }
  }
});

test.each(RICH_MESSAGES)(
  "$name makes valid messages, or names the wrong value, whatever its input contains",
  (form) => {
    expect(form.convert(form.given).flatMap(findProblems)).toEqual([]);
    const given: object = JSON.parse(JSON.stringify(form.given));
    for (const { place, document } of takeTried(replaceEachValue({ given }), 7)) {
      try {
        const { given: changed } = JSON.parse(JSON.stringify(document));
        const messages = convertUnlessRefused(form, changed) ?? [];
        expect(messages.flatMap(findProblems)).toEqual([]);
        for (const write of Object.values(WRITERS)) write(messages, { model: "claude-opus-5-5" });
      } catch (error) {
        throw new Error(`fails if ${place}`, { cause: error });
      }
    }
  },
);

test.each([
  ...RICH_MESSAGES.map((form) => [`from ${form.name}`, form.convert(form.given)] as const),
  ["of every role", makeRichMessages()] as const,
])("every form is written from stored messages %s, whatever they contain", (_, messages) => {
  for (const { place, document } of takeTried(replaceEachValue(JSON.parse(JSON.stringify(messages))), 17)) {
    for (const [name, write] of Object.entries(WRITERS)) {
      try {
        write(JSON.parse(JSON.stringify(document)), { model: "claude-opus-5-5" });
      } catch (error) {
        throw new Error(`${name} fails if ${place}`, { cause: error });
      }
    }
  }
});
