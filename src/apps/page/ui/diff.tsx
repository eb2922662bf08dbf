import { useContext, useState } from "preact/hooks";
import { count } from "../../../core/facts/number-text.ts";
import type { DiffLine } from "../model/edit-diff.ts";
import { PrintContext } from "./code.tsx";

/** Unchanged lines that are shown around a change. */
const AROUND = 4;

/** More lines are shown on demand. */
const MOST_LINES = 400;

/** A comparison of two texts. */
export function Diff({ lines }: { lines: readonly DiffLine[] }) {
  const [isWhole, showWhole] = useState(false);
  const isPrinted = useContext(PrintContext);
  const shown = shownLines(lines);
  return (
    <figure class="diff" aria-label="Changes">
      {shown.slice(0, isWhole || isPrinted ? undefined : MOST_LINES).map((line, index) =>
        line === undefined ? (
          <div key={index} class="diff-gap">
            ⋯
          </div>
        ) : (
          <div key={index} class={`diff-line ${CLASS_OF[line.sign]}`}>
            <span class="diff-sign">{line.sign}</span>
            <span class="diff-text">{line.text}</span>
          </div>
        ),
      )}
      {!isWhole && !isPrinted && shown.length > MOST_LINES && (
        <button type="button" class="more no-print" onClick={() => showWhole(true)}>
          Show all {count(shown.length)} lines
        </button>
      )}
    </figure>
  );
}

const CLASS_OF = { "+": "is-added", "-": "is-removed", " ": "is-same" };

/** The changed lines and what is around them; undefined stands for what is left out. */
function shownLines(lines: readonly DiffLine[]): (DiffLine | undefined)[] {
  const isNear = new Uint8Array(lines.length);
  lines.forEach(({ sign }, at) => {
    if (sign !== " ") isNear.fill(1, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  return lines.flatMap((line, at) => {
    if (isNear[at] === 1) return [line];
    return at === 0 || isNear[at - 1] === 1 ? [undefined] : [];
  });
}

/** Counts what a comparison adds and takes away. */
export function DiffCounts({ edits }: { edits: readonly (readonly DiffLine[])[] }) {
  const all = edits.flat();
  const added = all.filter(({ sign }) => sign === "+").length;
  const removed = all.filter(({ sign }) => sign === "-").length;
  return (
    <span class="diff-counts">
      <span class="is-added">+{count(added)}</span> <span class="is-removed">−{count(removed)}</span>
    </span>
  );
}
