import { describe, expect, test } from "vitest";
import { roleInFront, timeInBody } from "../../src/catalog/message-bytes.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe("the time in a body", () => {
  const time = (body: string, isMessage = true) => {
    const bytes = bytesOf(`head${body}`);
    return timeInBody(bytes, 4, bytes.length, isMessage);
  };

  test("is the only one, written as plain digits", () => {
    expect(time(',"message":{"timestamp":1700000000000}}')).toBe(1_700_000_000_000);
    expect(time(',"message":{"timestamp":5,"role":"user"}}')).toBe(5);
    expect(time(',"message":{"role":"user","content":"\\"timestamp\\":5"}}')).toBe(Number.NEGATIVE_INFINITY);
  });

  test.each([
    "1.5}",
    "-5}",
    "1e3}",
    "1700000000000000}",
    '"2026"}',
    " 5}",
    "null}",
    "}",
    "5",
    "5 }",
    '5},{"timestamp":6}',
  ])("takes a parse to tell: %s", (value) => {
    expect(time(`,"message":{"timestamp":${value}`)).toBeNaN();
  });

  test("takes a parse to tell if it is no message's", () => {
    expect(time(',"data":{"timestamp":5}}', false)).toBeNaN();
    expect(time(',"data":{}}', false)).toBe(Number.NEGATIVE_INFINITY);
  });
});

test("a role is read where writers put it", () => {
  const role = (body: string) => roleInFront(bytesOf(body), 0, bytesOf(body).length);
  expect(role(',"message":{"role":"user","content":""}}')).toBe("user");
  expect(role(',"message":{"role":"assistant"}}')).toBe("assistant");
  expect(role(',"message":{"role":"toolResult"}}')).toBe("other");
  expect(role(',"message":{"role":"users"}}')).toBe("other");
  expect(role(',"message":{"content":"","role":"user"}}')).toBeUndefined();
  expect(role(',"note":1,"message":{"role":"user"}}')).toBeUndefined();
});
