import type { ComponentChildren } from "preact";
import { roundValues } from "../model/format.ts";
import { WIDE } from "./media-queries.ts";

/** Size of what is drawn in a chart, in units of its own. */
export const PLOT = { width: 760, height: 180 } as const;

/**
 * Width of a chart with its labels, in the units of its `viewBox`: about as many pixels as it is drawn in, so that a label
 * is as large as the style sheet says; and the room of a character of a label.
 */
const FRAME = matchMedia(WIDE).matches ? { width: 822, character: 7 } : { width: 340, character: 8.4 };

/** Room above the plot and below it. */
const MARGIN = 10;

/** Room between the labels and the plot. */
const GAP = 8;

/** What a chart is made of. */
export interface ChartFrameProps {
  readonly title: string;
  /** What the colours mean. */
  readonly legend: readonly (readonly [series: string, word: string])[];
  readonly most: number;
  readonly write: (value: number) => string;
  /** Height of the plot, in its units. */
  readonly height?: number;
  /** Draws into the plot; `y` gives the height of a value, from the top. */
  readonly children: (y: (value: number) => number) => ComponentChildren;
  /** What stands below. */
  readonly reading?: ComponentChildren;
}

/** A chart: title, legend, lines across, and what is drawn between them. */
export function ChartFrame(props: ChartFrameProps) {
  const { title, legend, most, write, height = PLOT.height, children, reading } = props;
  const values = roundValues(most);
  const greatest = values.at(-1) ?? 1;
  const { width, character } = FRAME;
  const labels = values.map(write);
  const left = Math.max(...labels.map((label) => label.length)) * character + GAP;
  const y = (value: number) => height - (value / greatest) * height;
  return (
    <figure class="chart" style={{ "--labels": `${(100 * left) / width}%` }}>
      <figcaption>
        {title}
        <span class="legend">
          {legend.map(([series, word]) => (
            <span key={word}>
              <span class={`swatch ${series}`} />
              {word}
            </span>
          ))}
        </span>
      </figcaption>
      <svg viewBox={`0 ${-MARGIN} ${width} ${height + 2 * MARGIN}`} role="img" aria-label={title}>
        {values.map((value, index) => (
          <g key={value} class="chart-line">
            <path d={`M${left} ${y(value)}H${width}`} />
            <text x={left - GAP} y={y(value) + 4}>
              {labels[index]}
            </text>
          </g>
        ))}
        <g transform={`translate(${left} 0) scale(${(width - left) / PLOT.width} 1)`}>{children(y)}</g>
      </svg>
      {reading}
    </figure>
  );
}
