import { describe, expect, it } from "vitest";
import { type LineSpan, SpanColumns } from "../../../src/core/jsonl/line-spans.ts";

const placeOf = (i: number) => ({ offset: i * 1000, length: i % 999, line: i + 1 });

const put = (places: SpanColumns, ordinal: number, { offset, length, line }: LineSpan) =>
  places.set(ordinal, offset, length, line);

describe("Places", () => {
  it("returns the spans that were set, in any number", () => {
    const places = new SpanColumns();
    for (let i = 0; i < 10_000; i++) put(places, i, placeOf(i));
    for (const i of [0, 1, 63, 64, 65, 9999]) {
      expect(places.at(i)).toEqual(placeOf(i));
      expect(places.offsetAt(i)).toBe(i * 1000);
    }
  });

  it("keeps offsets beyond 4 GB exactly", () => {
    const places = new SpanColumns();
    const place = { offset: 2 ** 52 + 1, length: 2 ** 32 - 1, line: 2 ** 32 - 1 };
    put(places, 0, place);
    expect(places.at(0)).toEqual(place);
  });

  it("allows changing a span, in any order", () => {
    const places = new SpanColumns();
    put(places, 200, placeOf(200));
    put(places, 3, placeOf(3));
    put(places, 3, placeOf(4));
    expect([places.at(200), places.at(3)]).toEqual([placeOf(200), placeOf(4)]);
  });

  it("sorts ordinals into the order of the file", () => {
    const places = new SpanColumns();
    for (const [i, offset] of [50, 10, 40, 20, 30].entries()) places.set(i, offset, 1, 1);
    expect([...places.inFileOrder([0, 1, 2, 3, 4])]).toEqual([1, 3, 4, 2, 0]);
    expect([...places.inFileOrder([1, 3, 4])]).toEqual([1, 3, 4]);
    expect([...places.inFileOrder([])]).toEqual([]);
    expect([...places.allInFileOrder(5)]).toEqual([1, 3, 4, 2, 0]);
    expect([...places.allInFileOrder(1)]).toEqual([0]);
    expect([...places.allInFileOrder(0)]).toEqual([]);
  });
});
