import { useMemo } from "preact/hooks";
import { duration } from "../../../core/facts/times.ts";
import { titleOfEntry } from "../../text/entry-title.ts";
import type { PathView } from "../model/path-items.ts";
import { kindAt } from "../model/session-model.ts";
import { stretchesOf } from "../model/turns.ts";
import { usePage } from "./page-context.ts";

const WIDTH = 1000;
const HEIGHT = 10;

/** A stretch is at least as wide as this, so that it can be pointed at. */
const LEAST_WIDTH = 2;

interface TimeLineProps {
  readonly path: PathView;
  /** The entry that is looked at. */
  readonly focus: number;
}

/** How the time of the path went to the model and to tools, as a slim line; each stretch leads to its entry. */
export function TimeLine({ path, focus }: TimeLineProps) {
  const { session, go } = usePage();
  const stretches = useMemo(
    () =>
      stretchesOf(
        session,
        path.items.map(({ ordinal }) => ordinal),
      ),
    [session, path],
  );
  if (stretches.length < 2) return null;
  const sum = stretches.reduce((all, { milliseconds }) => all + milliseconds, 0);
  const scale = WIDTH - LEAST_WIDTH * stretches.length;
  let x = 0;
  return (
    <svg
      class="time-line no-print"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Where the time went: ${duration(sum)} of models and tools`}
    >
      {stretches.map(({ ordinal, kind, milliseconds }) => {
        const width = LEAST_WIDTH + (milliseconds / sum) * scale;
        const from = x;
        x += width;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: a short cut; keys reach the entries themselves
          <rect
            key={ordinal}
            class={`stretch is-${kind} ${ordinal === focus ? "is-looked-at" : ""}`}
            x={from}
            y={0}
            width={Math.max(1, width - 0.6)}
            height={HEIGHT}
            onClick={() => go({ go: "entry", ordinal })}
          >
            <title>{`${duration(milliseconds)}: ${kindAt(session, ordinal).word} ${titleOfEntry(session, ordinal)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
