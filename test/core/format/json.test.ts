import { expect, test } from "vitest";
import { toSafeString } from "../../../src/core/format/json.ts";

test.each([
  ["a string", "text", "text"],
  ["a number", 1.5, "1.5"],
  ["null", null, "null"],
  ["undefined", undefined, "undefined"],
  ["a BigInt", 12n, "12"],
  ["an object", { a: 1 }, "[object Object]"],
  ["an array", ["a"], "[object Array]"],
  ["an object whose toString is not a function", JSON.parse('{"toString":0,"valueOf":0}'), "[object Object]"],
  ["an object without a prototype", Object.create(null), "[object Object]"],
])("the string of %s is safe", (_, value: unknown, text) => {
  expect(toSafeString(value)).toBe(text);
});

test("the string of an array that is nested a million times is safe", () => {
  let deep: unknown[] = [];
  for (let depth = 0; depth < 1e6; depth++) deep = [deep];
  expect(toSafeString(deep)).toBe("[object Array]");
});
