import { describe, expect, it } from "vitest";
import type { IdKey } from "../../../src/core/format/id-key.ts";
import { IdIndex } from "../../../src/core/tree/id-index.ts";
import fc from "../../support/fast-check.ts";

const key: fc.Arbitrary<IdKey> = fc.oneof(
  fc.integer(),
  fc.integer({ min: 0, max: 99 }),
  fc.string({ maxLength: 3 }),
  fc.constantFrom("__proto__", "constructor", "", "0", 0, -1, -0x80000000),
);

/** Returns the key that the index's mixing function maps to `hash`, as an attacker would choose colliding ids. */
function keyOfHash(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x7ed1b41d);
  value = Math.imul(value ^ (value >>> 13) ^ (value >>> 26), 0xa5cb9243);
  return value ^ (value >>> 16);
}

function expectSame(index: IdIndex, map: ReadonlyMap<IdKey, number>): void {
  const wrong = [...map].filter(([one, ordinal]) => index.get(one) !== ordinal);
  expect(wrong).toEqual([]);
}

describe("IdIndex", () => {
  it("is empty at first, without 0 or any member of Object.prototype", () => {
    const index = new IdIndex();
    for (const one of [0, -1, "", "__proto__", "toString"]) expect(index.get(one)).toBe(-1);
  });

  it("distinguishes the number 0, the string 0, and __proto__", () => {
    const index = new IdIndex();
    index.set(0, 5);
    index.set("0", 6);
    index.set("__proto__", 7);
    expect([index.get(0), index.get("0"), index.get("__proto__"), index.get("constructor")]).toEqual([
      5, 6, 7, -1,
    ]);
  });

  it("replaces the value of an existing key, without a second slot", () => {
    const index = new IdIndex();
    for (let ordinal = 0; ordinal < 1000; ordinal++) index.set(42, ordinal);
    expect(index.get(42)).toBe(999);
    expect(index.get(43)).toBe(-1);
  });

  it("adds a new key and reports an existing one, for any number of collisions", () => {
    const crowd = Array.from({ length: 300 }, (_, i) => keyOfHash(i << 20));
    const any = fc.oneof(key, fc.constantFrom(...crowd));
    fc.assert(
      fc.property(fc.array(any, { maxLength: 2000, size: "max" }), (keys) => {
        const index = new IdIndex();
        const map = new Map<IdKey, number>();
        for (const [ordinal, one] of keys.entries()) {
          expect(index.add(one, ordinal)).toBe(map.get(one) ?? -1);
          if (!map.has(one)) map.set(one, ordinal);
        }
        expectSame(index, map);
      }),
      { numRuns: 50 },
    );
  });

  it("is empty after clear, and keeps its keys when it grows", () => {
    const index = new IdIndex();
    fc.assert(
      fc.property(fc.array(key, { maxLength: 1200, size: "max" }), fc.nat({ max: 200_000 }), (keys, room) => {
        index.clear();
        const map = new Map<IdKey, number>();
        for (const [ordinal, one] of keys.entries()) {
          if (ordinal === keys.length >> 1) index.reserve(room);
          expect(index.get(one)).toBe(map.get(one) ?? -1);
          index.set(one, ordinal);
          map.set(one, ordinal);
        }
        expectSame(index, map);
      }),
      { numRuns: 100 },
    );
  });

  it("agrees with a Map for 10,000 random keys", () => {
    fc.assert(
      fc.property(fc.array(key, { minLength: 10_000, maxLength: 10_000, size: "max" }), (keys) => {
        const index = new IdIndex();
        const map = new Map<IdKey, number>();
        for (const [ordinal, one] of keys.entries()) {
          index.set(one, ordinal);
          map.set(one, ordinal);
        }
        expectSame(index, map);
      }),
      { numRuns: 5 },
    );
  });

  it("agrees with a Map at every size, for any keys", () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 200 }), fc.array(key), (keys, others) => {
        const index = new IdIndex();
        const map = new Map<IdKey, number>();
        for (const [ordinal, one] of keys.entries()) {
          index.set(one, ordinal);
          map.set(one, ordinal);
          expectSame(index, map);
        }
        for (const one of others) expect(index.get(one)).toBe(map.get(one) ?? -1);
      }),
    );
  });

  it("distinguishes 1,000 keys that all hash to the last slot, past the end of the table", () => {
    const index = new IdIndex();
    const map = new Map<IdKey, number>();
    for (let i = 0; i < 1000; i++) {
      const one = keyOfHash(i * 0x10000 + 0xffff);
      index.set(one, i);
      map.set(one, i);
    }
    expect(map.size).toBe(1000);
    expectSame(index, map);
    expect(index.get(keyOfHash(2000 * 0x10000 + 0xffff))).toBe(-1);
  });

  it("accepts 200,000 colliding ids, and others between them", () => {
    const index = new IdIndex();
    const map = new Map<IdKey, number>();
    for (let i = 0; i < 200_000; i++) {
      // All of them hash to one of eight adjacent slots, however large the table grows.
      const one = i % 4 === 0 ? i : keyOfHash(((i >>> 3) << 21) + (i & 7));
      index.set(one, i);
      map.set(one, i);
    }
    expectSame(index, map);
  });
});
