import { describe, expect, it } from "vitest";
import { isSessionError } from "../../../src/core/format/errors.ts";
import { fromIdKey, toIdKey } from "../../../src/core/format/id-key.ts";
import {
  assertValidSessionId,
  createEntryId,
  createSessionId,
  inventEntryId,
} from "../../../src/core/format/ids.ts";

describe("createEntryId", () => {
  it("returns eight random lowercase hex characters", () => {
    const ids = Array.from({ length: 1000 }, () => createEntryId(() => false));
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(new Set(ids).size).toBeGreaterThan(990);
  });

  it("retries while the id exists", () => {
    const refused: string[] = [];
    const id = createEntryId((one) => refused.length < 3 && refused.push(one) > 0);
    expect(refused).toHaveLength(3);
    expect(refused).not.toContain(id);
  });
});

describe("createSessionId", () => {
  it("returns valid UUIDs of version 7, unique and ascending", () => {
    const ids = Array.from({ length: 100 }, createSessionId);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assertValidSessionId(id);
    }
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(100);
  });
});

describe("assertValidSessionId", () => {
  it.each(["a", "0", "A.b_c-9", "a..b"])("accepts %j", (id) => {
    expect(() => assertValidSessionId(id)).not.toThrow();
  });

  it.each(["", ".", "..", "-a", "a-", "a/b", "a\\b", "../a", "a b", "a\n", "a\0b", "ä", "a:b"])(
    "rejects %j, and names the id",
    (id) => {
      let caught: unknown;
      try {
        assertValidSessionId(id);
      } catch (error) {
        caught = error;
      }
      expect(isSessionError(caught, "INVALID_SESSION_ID")).toBe(true);
      expect(caught).toMatchObject({ details: { id } });
    },
  );

  it("rejects a long id of dashes in linear time", () => {
    expect(() => assertValidSessionId(`a${"-".repeat(1_000_000)}`)).toThrow("Invalid session id");
  });
});

describe("inventEntryId", () => {
  it("is the same on every read and on every machine", () => {
    expect(inventEntryId("s", 1, 0)).toBe(inventEntryId("s", 1, 0));
    expect([inventEntryId("", 0, 0), inventEntryId("session", 12, 3)]).toEqual(["b3068db5", "ee0e078a"]);
  });

  it("differs between sessions, positions, and attempts", () => {
    const ids = ["s", "t", "s1"].flatMap((session) =>
      [1, 2, 11].flatMap((place) => [0, 1, 2].map((attempt) => inventEntryId(session, place, attempt))),
    );
    expect(new Set(ids).size).toBe(27);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}$/);
  });

  it("rarely collides among 10,000 positions of a session", () => {
    const ids = new Set(Array.from({ length: 10_000 }, (_, place) => inventEntryId("session", place, 0)));
    expect(ids.size).toBeGreaterThan(9990);
  });
});

describe("the key of an id", () => {
  it.each([
    ["00000000", 0],
    ["0000001f", 31],
    ["7fffffff", 0x7fffffff],
    ["80000000", -0x80000000],
    ["ffffffff", -1],
    ["FFFFFFFF", "FFFFFFFF"],
    ["0000001", "0000001"],
    ["000000001", "000000001"],
    ["0000001g", "0000001g"],
    ["0000001f\n", "0000001f\n"],
    ["1e000000", 0x1e000000],
    ["__proto__", "__proto__"],
    ["", ""],
  ])("of %j is %j, and converts back to the id", (id, key) => {
    expect(toIdKey(id)).toBe(key);
    expect(fromIdKey(key)).toBe(id);
  });
});
