import stringWidth from "string-width";
import { describe, expect, test, vi } from "vitest";
import {
  fitColumn,
  loadWidths,
  measureWidth,
  truncateLine,
  truncateStart,
  wrapText,
} from "../../../src/apps/cli/text/width.ts";
import { formatBytes, formatCount, formatCounted } from "../../../src/core/facts/number-text.ts";
import { toPlainJson, toPlainLine, toPlainText } from "../../../src/core/facts/plain-text.ts";
import { chooseTimeColumn, formatAgo, formatDateAndTime, formatSpan } from "../../../src/core/facts/times.ts";
import fc from "../../support/fast-check.ts";

await loadWidths();

// biome-ignore lint/suspicious/noControlCharactersInRegex: the tests search for these
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]|\p{Surrogate}/u;

const anyText = fc.string({
  unit: fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\u001b[", "\u001b]0;", "m", "J")),
});

describe("plain text", () => {
  test("contains nothing that controls a terminal, for any text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(toPlainText(text)).not.toMatch(HARMFUL);
        expect(toPlainLine(text)).not.toMatch(HARMFUL);
        expect(toPlainLine(text)).not.toMatch(/[\n\t]/);
      }),
    );
  });

  test("drops colors and shows everything else", () => {
    expect(toPlainText("\u001b[1;31mred\u001b[0m")).toBe("red");
    expect(toPlainText("\u001b\u001b[0m[2J")).toBe("␛[2J");
    expect(toPlainText("a\u0000\u007f\u009b\u202eb")).toBe("a␀␡��b");
    expect(toPlainText("one\r\ntwo\rthree\n\tfour")).toBe("one\ntwo\nthree\n\tfour");
    expect(toPlainText("\ud800x")).toBe("�x");
    expect(toPlainText("👨‍👩‍👧‍👦 ❤️ é")).toBe("👨‍👩‍👧‍👦 ❤️ é");
  });

  test("joins lines into one, and does not read all of a long text", () => {
    expect(toPlainLine("  one\n\n two\tthree ")).toBe("one two three");
    expect(toPlainLine("x".repeat(10_000_000)).length).toBeLessThan(10_000);
    expect(toPlainLine(`${" ".repeat(100_000)}end`)).toBe("end");
  });

  test("escapes JSON without changing its value", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = toPlainJson(JSON.stringify({ [text]: text }));
        expect(json).not.toMatch(HARMFUL);
        expect(JSON.parse(json)).toEqual({ [text]: text });
      }),
    );
    expect(toPlainJson(JSON.stringify("\u{e0041}"))).toBe('"\\udb40\\udc41"');
  });
});

const graphemes = fc
  .array(fc.constantFrom("a", "Z", " ", "é", "e\u0301", "日", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪", "│", "ﾊ", "한"))
  .map((parts) => parts.join(""));

describe("widths", () => {
  test("match a terminal's", () => {
    expect(["abc", "日本", "👨‍👩‍👧‍👦", "e\u0301", "│"].map(measureWidth)).toEqual([3, 4, 2, 1, 1]);
  });

  test("text cut at its end fits, and keeps its beginning", () => {
    fc.assert(
      fc.property(graphemes, fc.integer({ min: 0, max: 30 }), (text, width) => {
        const cut = truncateLine(text, width);
        expect(stringWidth(cut)).toBeLessThanOrEqual(width);
        if (stringWidth(text) <= width) expect(cut).toBe(text);
        else if (width > 0) expect(text.startsWith(cut.slice(0, -1)) && cut.endsWith("…")).toBe(true);
        expect(stringWidth(fitColumn(text, width))).toBe(width);
      }),
    );
  });

  test("text cut at its beginning fits, and keeps its end", () => {
    fc.assert(
      fc.property(graphemes, fc.integer({ min: 0, max: 30 }), (text, width) => {
        const cut = truncateStart(text, width);
        expect(stringWidth(cut)).toBeLessThanOrEqual(width);
        if (stringWidth(text) <= width) expect(cut).toBe(text);
        else if (width > 0) expect(cut.startsWith("…") && text.endsWith(cut.slice(1))).toBe(true);
      }),
    );
    expect(truncateStart("one two three", 9)).toBe("…wo three");
  });

  test("wrapping keeps all words and fits", () => {
    fc.assert(
      fc.property(graphemes, fc.integer({ min: 2, max: 30 }), (text, width) => {
        const lines = wrapText(text, width);
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
        expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
      }),
    );
    expect(wrapText("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrapText("", 7)).toEqual([""]);
  });
});

describe("numbers and times", () => {
  test("numbers are easy to read", () => {
    expect([formatCount(1234567), formatCounted(1, "entry", "entries"), formatCounted(2, "label")]).toEqual([
      "1,234,567",
      "1 entry",
      "2 labels",
    ]);
    expect([0, 1, 999, 1000, 9_949, 9_960, 999_499, 999_500, 2_000_000_000, 5e15].map(formatBytes)).toEqual([
      ...[
        "0 bytes",
        "1 byte",
        "999 bytes",
        "1.0 kB",
        "9.9 kB",
        "10 kB",
        "999 kB",
        "1.0 MB",
        "2.0 GB",
        "5000 TB",
      ],
    ]);
  });

  test("times are local, to the minute, and as short as the range allows", () => {
    vi.stubEnv("TZ", "UTC");
    const at = (text: string) => Date.parse(text);
    const noon = at("2026-02-03T12:00:59.999Z");
    expect(formatDateAndTime(noon)).toBe("2026-02-03 12:00");
    expect(formatDateAndTime(Number.NaN)).toBe("");
    expect(chooseTimeColumn(noon, at("2026-02-03T23:00:00Z")).format(noon)).toBe("12:00");
    expect(chooseTimeColumn(noon, at("2026-12-03T23:00:00Z")).format(noon)).toBe("02-03 12:00");
    expect(chooseTimeColumn(noon, at("2027-02-03T23:00:00Z")).format(noon)).toBe("2026-02-03 12:00");
    expect(chooseTimeColumn(Number.NaN, Number.NaN)).toMatchObject({ width: 0 });
    expect(formatSpan(noon, noon)).toBe("2026-02-03 12:00");
    expect(formatSpan(noon, at("2026-02-03T13:30:00Z"))).toBe("2026-02-03 12:00 – 13:30");
    expect(formatSpan(noon, at("2026-02-04T13:30:00Z"))).toBe("2026-02-03 12:00 – 2026-02-04 13:30");
    expect(formatSpan(Number.NaN, Number.NaN)).toBe("");
    vi.unstubAllEnvs();
  });

  test("ages are in the largest unit, and a date if they are long", () => {
    vi.stubEnv("TZ", "UTC");
    const now = Date.parse("2026-02-10T12:00:00Z");
    const minute = 60_000;
    const ages = [
      0,
      59_999,
      minute,
      59 * minute,
      60 * minute,
      1439 * minute,
      1440 * minute,
      6 * 1440 * minute,
    ];
    expect(ages.map((age) => formatAgo(now - age, now))).toEqual([
      ...[
        "just now",
        "just now",
        "1 min ago",
        "59 min ago",
        "1 h ago",
        "23 h ago",
        "1 day ago",
        "6 days ago",
      ],
    ]);
    expect(formatAgo(now - 7 * 1440 * minute, now)).toBe("2026-02-03");
    expect(formatAgo(now + minute, now)).toBe("2026-02-10");
    vi.unstubAllEnvs();
  });
});
