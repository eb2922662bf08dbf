import type { ComponentChildren } from "preact";
import { roundValues } from "../model/scale.ts";

/** Size of what is drawn in a chart, in units of its own. */
export const PLOT = { width: 760, height: 180 } as const;

/** Size of a chart with its labels, in the units of its `viewBox`, and the room above the plot and below it. */
const FRAME = { width: 822, margin: 10 } as const;

/** Room of a character of a label where the text is largest, which is on a phone. */
const CHARACTER_WIDTH = 11.5;

/** Room between the labels and the plot. */
const GAP = 8;

interface ChartFrameProps {
  readonly title: string;
  /** What the colours mean. */
  readonly legend: readonly (readonly [series: string, word: string])[];
  readonly most: number;
  readonly write: (value: number) => string;
  /** Draws into the plot; `y` gives the height of a value, from the top. */
  readonly children: (y: (value: number) => number) => ComponentChildren;
}

/** A chart: title, legend, lines across, and what is drawn between them. */
export function ChartFrame({ title, legend, most, write, children }: ChartFrameProps) {
  const values = roundValues(most);
  const greatest = values.at(-1) ?? 1;
  const { height } = PLOT;
  const { width, margin } = FRAME;
  const labels = values.map(write);
  const left = Math.max(...labels.map((label) => label.length)) * CHARACTER_WIDTH + GAP;
  const y = (value: number) => height - (value / greatest) * height;
  return (
    <figure class="chart">
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
      <svg viewBox={`0 ${-margin} ${width} ${height + 2 * margin}`} role="img" aria-label={title}>
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
    </figure>
  );
}
