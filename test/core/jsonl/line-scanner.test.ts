import { describe, expect, it } from "vitest";
import { LineScanner, type ScannedLine } from "../../../src/core/jsonl/line-scanner.ts";
import fc from "../../support/fast-check.ts";

interface Seen {
  text: string;
  offset: number;
  line: number;
  terminated: boolean;
  continued: boolean;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Scanner that records what it emits; `takes` lists the results of consuming its lines. */
class Recorder {
  readonly lines: Seen[] = [];
  readonly overlong: { offset: number; length: number; line: number; terminated: boolean }[] = [];
  takes: (boolean | number)[] = [];
  readonly scanner: LineScanner;

  constructor(options?: { maxLineBytes: number }) {
    this.scanner = new LineScanner(
      {
        line: ({ bytes, start, end, offset, line, terminated, continued }: ScannedLine) => {
          const text = decoder.decode(bytes.subarray(start, end));
          this.lines.push({ text, offset, line, terminated, continued });
          return this.takes.shift() ?? false;
        },
        overlong: (line) => void this.overlong.push(line),
      },
      options,
    );
  }

  feed(text: string): this {
    this.scanner.feed(bytesOf(text));
    return this;
  }

  get texts(): string[] {
    return this.lines.map(({ text }) => text);
  }
}

function scan(bytes: Uint8Array, sizes: readonly number[], options?: { maxLineBytes: number }): Recorder {
  const recorder = new Recorder(options);
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    const chunk = bytes.slice(at, at + size);
    recorder.scanner.feed(chunk);
    chunk.fill(0x21);
    at += size;
  }
  recorder.scanner.end();
  return recorder;
}

const soup = fc
  .array(fc.constantFrom("\n", "\r", "\r\n", " ", "\t", "a", "bcdef", "\uFEFF", "\u2028", "😀", "\0"), {
    maxLength: 40,
  })
  .map((parts) => bytesOf(parts.join("")));
const sizes = fc.array(fc.nat({ max: 7 }), { maxLength: 60 });

describe("LineScanner", () => {
  it("numbers lines from 1 and reports the offset of each", () => {
    const recorder = new Recorder().feed("ab\n\nc\nd");
    recorder.scanner.end();
    const whole = { terminated: true, continued: false };
    expect(recorder.lines).toEqual([
      { text: "ab", offset: 0, line: 1, ...whole },
      { text: "c", offset: 4, line: 3, ...whole },
      { text: "d", offset: 6, line: 4, terminated: false, continued: false },
    ]);
  });

  it("drops one CR before a line break, and keeps every other", () => {
    expect(new Recorder().feed("a\r\nb\r\r\nc\rd\n").texts).toEqual(["a", "b\r", "c\rd"]);
  });

  it("drops one byte order mark, at the start of the file only", () => {
    const recorder = new Recorder().feed("\uFEFFa\n\uFEFFb\n");
    expect(recorder.texts).toEqual(["a", "\uFEFFb"]);
    expect(recorder.lines.map(({ offset }) => offset)).toEqual([3, 5]);
    expect(new Recorder().feed("\uFEFF\uFEFFa\n").texts).toEqual(["\uFEFFa"]);
  });

  it("skips blank lines, but counts them", () => {
    const recorder = new Recorder().feed("\n \t\n\r\n\uFEFF\n\r\r\nx\n");
    expect(recorder.lines.map(({ text, line }) => [text, line])).toEqual([
      ["\uFEFF", 4],
      ["x", 6],
    ]);
    expect(new Recorder().feed("\uFEFF\n").lines).toEqual([]);
  });

  it("does not treat U+2028, other separators, or zero bytes as a line break", () => {
    const text = "a\u2028b\u2029c\u0085d\ve\ff\0g";
    expect(new Recorder().feed(`${text}\n`).texts).toEqual([text]);
    expect(new Recorder().feed("\0\0\n").texts).toEqual(["\0\0"]);
  });

  it("finds the same lines as splitting the text", () => {
    fc.assert(
      fc.property(soup, (bytes) => {
        const text = decoder.decode(bytes).replace(/^\uFEFF/, "");
        const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
        expect(scan(bytes, []).texts).toEqual(lines.filter((line) => /[^ \t\r]/.test(line)));
      }),
    );
  });

  it("finds the same lines in any chunks, and retains no chunk", () => {
    fc.assert(
      fc.property(soup, sizes, fc.constantFrom(undefined, { maxLineBytes: 4 }), (bytes, chunks, options) => {
        const [whole, pieces] = [scan(bytes, [], options), scan(bytes, chunks, options)];
        expect(pieces.lines).toEqual(whole.lines);
        expect(pieces.overlong).toEqual(whole.overlong);
        expect([pieces.scanner.position, pieces.scanner.line]).toEqual([bytes.length, whole.scanner.line]);
      }),
    );
  });

  it("reports a line over the limit, keeps none of it, and continues after it", () => {
    const recorder = scan(bytesOf("1234\n12345\nok\n123456"), [7, 1, 1], { maxLineBytes: 4 });
    expect(recorder.texts).toEqual(["1234", "ok"]);
    expect(recorder.overlong).toEqual([
      { offset: 5, length: 5, line: 2, terminated: true },
      { offset: 14, length: 6, line: 4, terminated: false },
    ]);
  });

  it("accepts a line of a megabyte in small pieces", () => {
    const text = "x".repeat(1_000_000);
    const recorder = scan(bytesOf(`${text}\nafter\n`), new Array<number>(1000).fill(997));
    expect(recorder.texts).toEqual([text, "after"]);
  });

  describe("at an unterminated line", () => {
    it("emits it again, longer, if it was not complete", () => {
      const recorder = new Recorder().feed('{"a"');
      recorder.scanner.end();
      recorder.scanner.end();
      recorder.feed(":1}\n");
      expect(recorder.texts).toEqual(['{"a"', '{"a"', '{"a":1}']);
      expect(recorder.lines.at(-1)).toMatchObject({ offset: 0, line: 1, terminated: true, continued: false });
    });

    it("does not emit it again if it was complete, and expects its line break", () => {
      const recorder = new Recorder().feed("{}");
      recorder.takes = [true];
      recorder.scanner.end();
      recorder.scanner.end();
      expect(recorder.scanner.isMidLine).toBe(true);
      recorder.feed("\r\n[]\n");
      expect(recorder.lines.map(({ text, line, offset }) => [text, line, offset])).toEqual([
        ["{}", 1, 0],
        ["[]", 2, 4],
      ]);
    });

    it("marks bytes after a complete line as its continuation", () => {
      const recorder = new Recorder().feed("{}");
      recorder.takes = [true];
      recorder.scanner.end();
      recorder.feed("more\nnext\n");
      expect(recorder.lines.slice(1)).toEqual([
        { text: "more", offset: 2, line: 1, terminated: true, continued: true },
        { text: "next", offset: 7, line: 2, terminated: true, continued: false },
      ]);
    });

    it("keeps the rest if only part of it was complete, and counts the byte order mark", () => {
      const recorder = new Recorder().feed("\uFEFF{}{");
      recorder.takes = [2, false];
      recorder.scanner.end();
      recorder.feed("}\n");
      expect(recorder.lines.map(({ text, offset, continued }) => [text, offset, continued])).toEqual([
        ["{}{", 3, false],
        ["{", 5, true],
        ["{}", 5, true],
      ]);
    });
  });

  it("reports its position, and can skip lines known to be complete", () => {
    const recorder = new Recorder();
    const { scanner } = recorder;
    expect([scanner.position, scanner.line, scanner.isMidLine]).toEqual([0, 1, false]);
    recorder.feed("ab\ncd");
    expect([scanner.position, scanner.line, scanner.isMidLine]).toEqual([5, 2, true]);
    recorder.feed("\n");
    expect([scanner.position, scanner.line, scanner.isMidLine]).toEqual([6, 3, false]);
    scanner.skip(100, 4);
    recorder.feed("e\n");
    expect(recorder.lines.at(-1)).toMatchObject({ text: "e", offset: 106, line: 7 });
  });
});
