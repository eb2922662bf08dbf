import { COLOR } from "../../../core/facts/plain-text.ts";

/** Page colors for the colors of a terminal. */
export type TerminalColor = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "grey";

/** Text style of a run. */
interface Look {
  readonly color?: TerminalColor | undefined;
  readonly ground?: TerminalColor | undefined;
  readonly isBold?: boolean;
  readonly isFaint?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
}

/** Range of text, and the classes of its style. */
export interface ColoredRun {
  readonly start: number;
  readonly end: number;
  readonly classes: string;
}

/** Text without its terminal color sequences, and the styles that they set. */
export interface ColoredText {
  readonly plain: string;
  /** Styled runs, in their order. */
  readonly runs: readonly ColoredRun[];
}

/** Black and white map to the text and background colors. */
const BASIC: readonly (TerminalColor | undefined)[] = [
  undefined,
  "red",
  "green",
  "yellow",
  "blue",
  "magenta",
  "cyan",
  undefined,
];

/**
 * Removes terminal color sequences from text, and converts all line endings to line feeds.
 *
 * @remarks Cost: O(characters).
 */
export function readColors(written: string): ColoredText {
  const text = written.replace(/\r\n?/g, "\n");
  if (!text.includes("\u001b[")) return { plain: text, runs: [] };
  const pieces: string[] = [];
  const runs: ColoredRun[] = [];
  let [look, from, length]: [Look, number, number] = [{}, 0, 0];
  const take = (piece: string) => {
    const classes = getClasses(look);
    if (piece !== "" && classes !== "") runs.push({ start: length, end: length + piece.length, classes });
    pieces.push(piece);
    length += piece.length;
  };
  for (const { 0: sequence, index } of text.matchAll(COLOR)) {
    take(text.slice(from, index));
    from = index + sequence.length;
    if (sequence.endsWith("m")) look = applyCodes(look, sequence.slice(2, -1).split(/[;:]/).map(Number));
  }
  take(text.slice(from));
  return { plain: pieces.join(""), runs };
}

function getClasses({ color, ground, isBold, isFaint, isItalic, isUnderlined }: Look): string {
  return [
    color && `ink-${color}`,
    ground && `ground-${ground}`,
    isBold && "ink-bold",
    isFaint && "ink-grey",
    isItalic && "ink-italic",
    isUnderlined && "ink-underlined",
  ]
    .filter(Boolean)
    .join(" ");
}

/** Returns a style after the codes of a sequence; unknown codes change nothing. */
function applyCodes(before: Look, codes: readonly number[]): Look {
  let look = before;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const { color, size } = readExtendedColor(codes.slice(at + 1));
      look = code === 38 ? { ...look, color } : { ...look, ground: color };
      at += size;
    } else look = { ...(code === 0 ? {} : look), ...toSimpleLook(code) };
  }
  return look;
}

function toSimpleLook(code: number): Look {
  if (code === 1) return { isBold: true };
  if (code === 2) return { isFaint: true };
  if (code === 3) return { isItalic: true };
  if (code === 4) return { isUnderlined: true };
  if (code === 7) return { ground: "grey" };
  if (code === 22) return { isBold: false, isFaint: false };
  if (code === 23) return { isItalic: false };
  if (code === 24) return { isUnderlined: false };
  if (code === 27 || code === 49) return { ground: undefined };
  if (code === 39) return { color: undefined };
  const base = [30, 90, 40, 100].find((first) => code >= first && code < first + 8);
  if (base === undefined) return {};
  const color = findIndexedColor(code - base + (base >= 90 ? 8 : 0));
  return base === 30 || base === 90 ? { color } : { ground: color };
}

/** Reads a color by its index, or by its red, green, and blue components. */
function readExtendedColor([form, ...rest]: readonly number[]): {
  color: TerminalColor | undefined;
  size: number;
} {
  if (form === 5) return { color: findIndexedColor(rest[0] ?? 0), size: 2 };
  const [red = 0, green = 0, blue = 0] = rest;
  return form === 2 ? { color: findNearestColor(red, green, blue), size: 4 } : { color: undefined, size: 0 };
}

function findIndexedColor(index: number): TerminalColor | undefined {
  if (index < 16) return index === 8 ? "grey" : BASIC[index % 8];
  if (index >= 232) return index < 246 ? "grey" : undefined;
  const level = (divisor: number) => (Math.floor((index - 16) / divisor) % 6) * 51;
  return findNearestColor(level(36), level(6), level(1));
}

/** Minimum difference between the components of a color that is not gray. */
const MIN_DIFFERENCE = 40;

function findNearestColor(red: number, green: number, blue: number): TerminalColor | undefined {
  const [max, min] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  if (max - min < MIN_DIFFERENCE) return max < 170 ? "grey" : undefined;
  const isDominant = (part: number) => part - min > (max - min) / 2;
  return BASIC[(isDominant(red) ? 1 : 0) + (isDominant(green) ? 2 : 0) + (isDominant(blue) ? 4 : 0)];
}
