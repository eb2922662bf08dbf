import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../../src/core/format/json.ts";
import { json } from "../../../src/core/format/shape.ts";
import { toZodSchema } from "../../../src/core/format/zod-schema.ts";
import { ENTRY_SAMPLES, HEADER_SAMPLE, MESSAGE_SAMPLES, PART_SAMPLES } from "./support/samples.ts";

const SAMPLES = [...PART_SAMPLES, ...MESSAGE_SAMPLES, ...ENTRY_SAMPLES, HEADER_SAMPLE];

function without(value: object, key: string): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}

describe.each(SAMPLES)("schema of $name", ({ shape, value, optional }) => {
  const schema = toZodSchema(shape);

  test("has exactly the fields of the interface", () => {
    expect(Object.keys(shape.fields).sort()).toEqual(Object.keys(value).sort());
  });

  test("accepts a complete value and returns every key, unknown ones included", () => {
    const loose = { ...value, unknownToUs: { deep: [1] } };
    expect(schema.safeParse(loose)).toMatchObject({ success: true, data: loose });
  });

  test("requires every field except the optional ones", () => {
    const accepted = Object.keys(value).filter((key) => schema.safeParse(without(value, key)).success);
    expect(accepted.sort()).toEqual([...optional].sort());
  });

  test("rejects a wrong kind in every field that has a kind", () => {
    const anything = new Set(["details", "data"]);
    const accepted = Object.keys(value).filter((key) => {
      return schema.safeParse({ ...value, [key]: Symbol("wrong") }).success && !anything.has(key);
    });
    expect(accepted).toEqual([]);
  });
});

describe("JSON values", () => {
  const jsonValueSchema = toZodSchema(json<JsonValue>());

  test.each([
    [undefined],
    [{ a: [undefined] }],
    [[() => 1]],
    [{ a: 1n }],
    [Number.NaN],
    [[Number.POSITIVE_INFINITY]],
    [{ a: { b: Symbol("s") } }],
    // biome-ignore lint/suspicious/noSparseArray: a hole must be rejected
    [[1, , 2]],
  ])("rejects values that JSON cannot hold (%#)", (value) => {
    expect(jsonValueSchema.safeParse(value).success).toBe(false);
  });

  test("accepts every result of JSON.parse, including `__proto__` as a key", () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":[null,true,-0,1e300,"\\u2028"]},"constructor":{}}');
    expect(jsonValueSchema.safeParse(value).success).toBe(true);
  });

  test("accepts depth, shared parts, and cycles", () => {
    let deep: unknown = "end";
    for (let i = 0; i < 200_000; i++) deep = [deep];
    expect(jsonValueSchema.safeParse(deep).success).toBe(true);
    const shared = [1];
    const circle: { self?: unknown; twice: unknown[] } = { twice: [shared, shared] };
    circle.self = circle;
    expect(jsonValueSchema.safeParse(circle).success).toBe(true);
  });
});
