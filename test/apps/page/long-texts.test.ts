import { expect, test } from "vitest";
import { readColors } from "../../../src/apps/page/model/terminal-colors.ts";
import { chooseShownPieces } from "../../../src/apps/page/ui/code.tsx";

const ESC = "\u001b";

test("separates colors of terminals from the text, in any spelling", () => {
  const looks = (text: string) => {
    const { plain, runs } = readColors(text);
    return runs.map(({ start, end, classes }) => [plain.slice(start, end), classes]);
  };
  expect(readColors("plain")).toEqual({ plain: "plain", runs: [] });
  expect(readColors(`a${ESC}[31mb${ESC}[0mc`).plain).toBe("abc");
  expect(looks(`a${ESC}[31;1mred${ESC}[39m bold${ESC}[m none`)).toEqual([
    ["red", "ink-red ink-bold"],
    [" bold", "ink-bold"],
  ]);
  expect(looks(`${ESC}[92mgreen${ESC}[22;90;4mfaint${ESC}[24;37mwhite`)).toEqual([
    ["green", "ink-green"],
    ["faint", "ink-grey ink-underlined"],
  ]);
  // By index or by parts; the parameters after it are not codes.
  expect(looks(`${ESC}[38;5;196mred${ESC}[38;2;40;80;240;3mblue${ESC}[0;48;5;2mground${ESC}[49mno`)).toEqual([
    ["red", "ink-red"],
    ["blue", "ink-blue ink-italic"],
    ["ground", "ground-green"],
  ]);
  expect(looks(`${ESC}[38;5;240mgrey${ESC}[38;5;15mwhite${ESC}[38mnone${ESC}[1234mnone`)).toEqual([
    ["grey", "ink-grey"],
  ]);
  // Other sequences are not colors.
  expect(readColors(`${ESC}[2Ja`).plain).toBe(`${ESC}[2Ja`);
  // As grep writes: clearing the rest of a line does not end a color. An overwritten line becomes a line above.
  expect(looks(`${ESC}[31m${ESC}[Kfound${ESC}[m${ESC}[K there`)).toEqual([["found", "ink-red"]]);
  expect(readColors("10%\r100%\r\ndone").plain).toBe("10%\n100%\ndone");
});

test("shows the beginning of long text, and the text around requested spots", () => {
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, line) => `line ${from + line}\n`).join("");
  const text = lines(0, 5000);
  const shown = (...spots: number[]) =>
    chooseShownPieces(text, spots).map(([start, end]) => text.slice(start, end));
  const at = (line: number) => text.indexOf(`line ${line}\n`);
  const head = lines(0, 300).trimEnd();
  expect(shown()).toEqual([head]);
  expect(shown(-1, at(10))).toEqual([head]);
  const few = lines(0, 12).trimEnd();
  expect(shown(at(2000))).toEqual([few, lines(1940, 2240).trimEnd()]);
  // A piece can contain several spots, and adjacent pieces are merged.
  expect(shown(at(2010), at(2000))).toHaveLength(2);
  expect(shown(at(2250), at(2000), at(60))[1]).toBe(lines(1940, 2539).trimEnd());
  expect(shown(at(4990), at(2000)).map((piece) => piece.split("\n")[0])).toEqual([
    "line 0",
    "line 1940",
    "line 4930",
  ]);
  expect(chooseShownPieces("short", [])).toEqual([[0, 5]]);
  const wide = "x".repeat(200_000);
  expect(chooseShownPieces(wide, [150_000])).toEqual([
    [0, 40_000],
    [142_000, 182_000],
  ]);
});
