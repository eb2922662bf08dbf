import { describe, expect, it } from "vitest";
import { PendingWrites } from "../../../src/core/jsonl/pending-writes.ts";

const first = { ordinal: 7, length: 10, hasBreak: true };
const second = { ordinal: 8, length: 20, hasBreak: false };

describe("OwnLines", () => {
  it("counts bytes and line breaks, those before a line among them", () => {
    const own = new PendingWrites();
    expect([own.isEmpty, own.bytes, own.breaks]).toEqual([true, 0, 0]);
    own.add(first);
    own.add(second);
    expect([own.isEmpty, own.bytes, own.breaks, own.ordinals]).toEqual([false, 31, 3, [7, 8]]);
  });

  it("returns lines in the order of writing, once", () => {
    const own = new PendingWrites();
    own.add(first);
    own.add(second);
    expect(own.drain()).toEqual([first, second]);
    expect([own.drain(), own.isEmpty, own.bytes, own.breaks]).toEqual([[], true, 0, 0]);
  });

  it("keeps lines among foreign ones on the list until each is found", () => {
    const own = new PendingWrites();
    own.add(first);
    own.add(second);
    own.disperse();
    expect([own.bytes, own.breaks, own.ordinals]).toEqual([0, 0, [7, 8]]);
    expect([own.take(8), own.take(8), own.take(9), own.ordinals]).toEqual([true, false, false, [7]]);
  });
});
