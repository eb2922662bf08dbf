import { createContext, Fragment } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";
import { formatCount } from "../../../core/facts/number-text.ts";
import type { DiffLine } from "../model/line-numbers.ts";
import { type ColoredText, readColors } from "../model/terminal-colors.ts";
import { guessLanguage, highlightCode, highlightLines, type SafeHtml } from "../render/highlight.ts";
import { usePage } from "./page-context.ts";

/** Whether the content is rendered for print, where a reader cannot expand it. */
export const PrintContext = createContext(false);

interface CodeProps {
  readonly text: string;
  readonly language?: string | undefined;
  /** Line of the text that must be shown; the last such line if it occurs several times. */
  readonly line?: string;
}

/**
 * Text with terminal colors or syntax highlighting. Very long text is truncated to its beginning, the context of the search hit,
 * and the line that must be shown.
 */
export function Code({ text, language, line = "" }: CodeProps) {
  const [isAskedFor, askForWhole] = useState(false);
  const isWhole = useContext(PrintContext) || isAskedFor;
  const { find, copy } = usePage();
  const colored = useMemo(() => readColors(text), [text]);
  const { plain } = colored;
  const pieces = useMemo((): Piece[] => {
    if (isWhole) return [[0, plain.length]];
    const spots = [find.best(plain)?.start, line === "" ? undefined : plain.lastIndexOf(line)];
    return chooseShownPieces(
      plain,
      spots.filter((spot) => spot !== undefined),
    );
  }, [plain, isWhole, find, line]);
  return (
    <div class="code">
      <button type="button" class="copy-code no-print" onClick={() => copy(plain, "the text")}>
        Copy
      </button>
      {pieces.map((piece) => (
        <Fragment key={piece[0]}>
          <CodePiece colored={colored} piece={piece} language={language} />
          {piece[1] < plain.length && (
            <button type="button" class="more no-print" onClick={() => askForWhole(true)}>
              Show all {formatCount(plain.length)} characters
            </button>
          )}
        </Fragment>
      ))}
    </div>
  );
}

interface CodePieceProps {
  readonly colored: ColoredText;
  readonly piece: Piece;
  readonly language: string | undefined;
}

function CodePiece({ colored: { plain, runs }, piece: [start, end], language }: CodePieceProps) {
  const text = plain.slice(start, end);
  const html = language === undefined || runs.length > 0 ? undefined : highlightCode(text, language);
  if (html !== undefined) return <Html class="pre hljs" html={html} isReachable={true} />;
  const shown = runs.filter((run) => run.end > start && run.start < end);
  return (
    // Scrollable content must be reachable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <pre class="plain" tabIndex={0}>
      {shown.length === 0
        ? text
        : shown.map((run, index) => {
            const from = Math.max(start, run.start);
            const before = plain.slice(Math.max(start, shown[index - 1]?.end ?? start), from);
            return (
              <Fragment key={run.start}>
                {before}
                <span class={run.classes}>{plain.slice(from, Math.min(end, run.end))}</span>
              </Fragment>
            );
          })}
      {plain.slice(Math.max(start, shown.at(-1)?.end ?? end), end)}
    </pre>
  );
}

interface HtmlProps {
  readonly class: string;
  readonly html: SafeHtml;
  /** Whether it scrolls on its own, and so must be reachable by keyboard. */
  readonly isReachable?: boolean;
  readonly onClick?: (event: Event) => void;
}

/** Shows HTML that a renderer has made safe: the only component that sets markup from a string. */
export function Html({ class: name, html, isReachable = false, onClick }: HtmlProps) {
  return (
    <div
      class={name}
      {...(isReachable && { tabIndex: 0 })}
      {...(onClick && { onClick })}
      dangerouslySetInnerHTML={html}
    />
  );
}

/** Unchanged lines shown around a change. */
const AROUND = 4;

/** Maximum number of lines shown at first; more on demand. */
const MAX_DIFF_LINES = 400;

interface DiffProps {
  readonly lines: readonly DiffLine[];
  /** The file, whose name determines the language. */
  readonly path?: string | undefined;
}

/** Comparison of two strings, with line numbers if they are known. */
export function Diff({ lines, path = "" }: DiffProps) {
  const [isWhole, showWhole] = useState(false);
  const isPrinted = useContext(PrintContext);
  const shown = useMemo(() => chooseShownLines(colorLines(lines, guessLanguage(path))), [lines, path]);
  const isNumbered = lines.some(({ number }) => number !== undefined);
  return (
    <figure class={isNumbered ? "diff is-numbered" : "diff"} aria-label="Changes">
      {shown.slice(0, isWhole || isPrinted ? undefined : MAX_DIFF_LINES).map((line, index) =>
        line === undefined ? (
          <div key={index} class="diff-gap">
            ⋯
          </div>
        ) : (
          <div key={index} class={`diff-line ${CLASS_OF[line.sign]}`}>
            {isNumbered && <span class="diff-number">{line.number}</span>}
            <span class="diff-sign">{line.sign}</span>
            {line.html === undefined ? (
              <span class="diff-text">{line.text}</span>
            ) : (
              <Html class="diff-text" html={line.html} />
            )}
          </div>
        ),
      )}
      {!isWhole && !isPrinted && shown.length > MAX_DIFF_LINES && (
        <button type="button" class="more no-print" onClick={() => showWhole(true)}>
          Show all {formatCount(shown.length)} lines
        </button>
      )}
    </figure>
  );
}

const CLASS_OF = { "+": "is-added", "-": "is-removed", " ": "is-same" };

/** Line of a comparison, colored if its language is known. */
interface ColoredLine extends DiffLine {
  readonly html?: SafeHtml;
}

/** Colors each line in the context of the whole text before or after the change. */
function colorLines(lines: readonly DiffLine[], language: string | undefined): readonly ColoredLine[] {
  if (language === undefined) return lines;
  const [before, after] = (["+", "-"] as const).map((without) => {
    const text = lines.flatMap(({ sign, text: line }) => (sign === without ? [] : line)).join("\n");
    return highlightLines(text, language)?.values();
  });
  return lines.map((line) => {
    const old = line.sign === "+" ? undefined : before?.next().value;
    const html = line.sign === "-" ? old : after?.next().value;
    return html === undefined ? line : { ...line, html };
  });
}

/** Returns the changed lines and their context; undefined replaces omitted lines. */
function chooseShownLines<T extends DiffLine>(lines: readonly T[]): (T | undefined)[] {
  const isNear = new Uint8Array(lines.length);
  lines.forEach(({ sign }, at) => {
    if (sign !== " ") isNear.fill(1, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  return lines.flatMap((line, at) => {
    if (isNear[at] === 1) return [line];
    return at === 0 || isNear[at - 1] === 1 ? [undefined] : [];
  });
}

/** Numbers of lines that a comparison adds and removes. */
export function DiffCounts({ edits }: { edits: readonly (readonly DiffLine[])[] }) {
  const all = edits.flat();
  const added = all.filter(({ sign }) => sign === "+").length;
  const removed = all.filter(({ sign }) => sign === "-").length;
  return (
    <span class="diff-counts">
      <span class="is-added">+{formatCount(added)}</span>{" "}
      <span class="is-removed">−{formatCount(removed)}</span>
    </span>
  );
}

/** Range of text; the end is exclusive. */
type Piece = readonly [start: number, end: number];

/** Maximum number of lines and characters of text that are shown until the reader expands it. */
const MAX_LINES = 300;
const MAX_CHARACTERS = 40_000;

/** Number of lines shown at the beginning if the reader navigated to a later position. */
const FEW_LINES = 12;

/** Number of lines and characters shown before the position that the reader navigated to. */
const LINES_BEFORE = 60;
const CHARACTERS_BEFORE = 8_000;

/**
 * Chooses the ranges of long text to show: its beginning, and the context of later positions.
 *
 * @param spots - Indices of characters that must be shown.
 */
export function chooseShownPieces(text: string, spots: readonly number[]): Piece[] {
  const pieces: Piece[] = [];
  const head = findEndAfter(text, 0);
  const isHeadEnough = spots.every((spot) => spot < head);
  let [from, to] = [0, isHeadEnough ? head : findEndAfter(text, 0, FEW_LINES)];
  for (const spot of [...spots].sort((a, b) => a - b)) {
    if (spot < to) continue;
    const start = startBefore(text, spot);
    if (start > to) {
      pieces.push([from, to]);
      from = start;
    }
    to = findEndAfter(text, Math.max(start, to));
  }
  return [...pieces, [from, to]];
}

function findEndAfter(text: string, start: number, lines = MAX_LINES): number {
  const end = Math.min(text.length, start + MAX_CHARACTERS);
  let at = start - 1;
  for (let line = 0; line < lines; line++) {
    at = text.indexOf("\n", at + 1);
    if (at === -1 || at >= end) return end;
  }
  return at;
}

function startBefore(text: string, spot: number): number {
  const min = Math.max(0, spot - CHARACTERS_BEFORE);
  let at = spot;
  for (let line = 0; line <= LINES_BEFORE; line++) {
    at = at <= 0 ? -1 : text.lastIndexOf("\n", at - 1);
    if (at < min) return min;
  }
  return at + 1;
}
