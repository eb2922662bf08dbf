import { createContext, Fragment } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";
import { count } from "../../../core/facts/number-text.ts";
import { type ColouredText, readColours } from "../model/terminal-colors.ts";
import { type Piece, shownPieces } from "../model/visible-pieces.ts";
import { highlightCode } from "../render/highlight.ts";
import { Html } from "./html.tsx";
import { usePage } from "./page-context.ts";

/** Whether this is for paper, where no reader can ask for more. */
export const PrintContext = createContext(false);

interface CodeProps {
  readonly text: string;
  readonly language?: string | undefined;
  /** A line of it that must be shown, the last one that is the same. */
  readonly line?: string;
}

/**
 * A text as it was written, coloured as in a terminal or if its language is known. If it is very long, its beginning, and
 * where it says what was looked for, or the line that must be shown.
 */
export function Code({ text, language, line = "" }: CodeProps) {
  const [isAskedFor, askForWhole] = useState(false);
  const isWhole = useContext(PrintContext) || isAskedFor;
  const { find, copy } = usePage();
  const coloured = useMemo(() => readColours(text), [text]);
  const { plain } = coloured;
  const pieces = useMemo((): Piece[] => {
    if (isWhole) return [[0, plain.length]];
    const spots = [find.best(plain)?.start, line === "" ? undefined : plain.lastIndexOf(line)];
    return shownPieces(
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
          <CodePiece coloured={coloured} piece={piece} language={language} />
          {piece[1] < plain.length && (
            <button type="button" class="more no-print" onClick={() => askForWhole(true)}>
              Show all {count(plain.length)} characters
            </button>
          )}
        </Fragment>
      ))}
    </div>
  );
}

interface CodePieceProps {
  readonly coloured: ColouredText;
  readonly piece: Piece;
  readonly language: string | undefined;
}

function CodePiece({ coloured: { plain, runs }, piece: [start, end], language }: CodePieceProps) {
  const text = plain.slice(start, end);
  const html = language === undefined || runs.length > 0 ? undefined : highlightCode(text, language);
  if (html !== undefined) return <Html class="pre hljs" html={html} isReachable={true} />;
  const shown = runs.filter((run) => run.end > start && run.start < end);
  return (
    // What scrolls must be reachable by keyboard.
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
