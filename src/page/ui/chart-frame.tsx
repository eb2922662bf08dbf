import type { ComponentChildren } from "preact";
import { roundValues } from "../model/scale.ts";

/** Size of the drawing area of a chart, in the units of its `viewBox`. */
export const PLOT = { width: 760, height: 180, left: 62, top: 10 } as const;

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
  const { width, height, left, top } = PLOT;
  const y = (value: number) => top + height - (value / greatest) * height;
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
      <svg viewBox={`0 0 ${left + width} ${top + height + 10}`} role="img" aria-label={title}>
        {values.map((value) => (
          <g key={value} class="chart-line">
            <path d={`M${left} ${y(value)}H${left + width}`} />
            <text x={left - 8} y={y(value) + 4}>
              {write(value)}
            </text>
          </g>
        ))}
        {children(y)}
      </svg>
    </figure>
  );
}
