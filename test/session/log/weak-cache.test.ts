import { describe, expect, it } from "vitest";
import type { UnknownEntry } from "../../../src/core/format/entry.ts";
import { WeakCache } from "../../../src/session/log/weak-cache.ts";
import { collectGarbage } from "../../support/collect-garbage.ts";

const entry = (i: number): UnknownEntry => ({
  type: "message",
  id: String(i),
  parentId: null,
  timestamp: "",
  message: { role: "user", content: `text ${i}` },
});

/** Releases three entries; returns the first, and the message of the second. */
function releaseThree(released: WeakCache) {
  const [held, second, third] = [entry(0), entry(1), entry(2)];
  released.add(0, held);
  released.add(1, second);
  released.add(2, third);
  return { held, message: second["message"] };
}

describe("ReleasedEntries", () => {
  it("finds an entry, or its message, while it is referenced", async () => {
    const released = new WeakCache();
    const { held, message } = releaseThree(released);
    await collectGarbage();
    expect(released.entryAt(0)).toBe(held);
    expect(released.messageAt(0)).toBe(held["message"]);
    expect(released.entryAt(1)).toBeUndefined();
    expect(released.messageAt(1)).toBe(message);
    expect(released.entryAt(2)).toBeUndefined();
    expect(released.messageAt(2)).toBeUndefined();
  });

  it("drops collected entries as others are added", async () => {
    const released = new WeakCache();
    const held = entry(0);
    released.add(0, held);
    for (let batch = 0; batch < 20; batch++) {
      for (let i = 0; i < 100; i++) released.add(1 + batch * 100 + i, entry(i));
      await collectGarbage();
    }
    expect(released.ordinals().length).toBeLessThan(500);
    expect(released.entryAt(0)).toBe(held);
  });
});
