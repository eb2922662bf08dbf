import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { roundValues } from "../model/format.ts";
import { LinkButton } from "./controls.tsx";
import { WIDE } from "./viewport.ts";

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
interface ChartFrameProps {
  readonly title: string;
  /** What the colors mean. */
  readonly legend: readonly (readonly [series: string, word: string])[];
  readonly max: number;
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
  const { title, legend, max, write, height = PLOT.height, children, reading } = props;
  const values = roundValues(max);
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

/** A bar of a chart. */
export interface Bar {
  readonly key: string | number;
  /** What it tells, in lines: shown to those who point at it, and below the chart. */
  readonly title: string;
  /** Its parts from the bottom: the class of a color, and a size. */
  readonly parts: readonly (readonly [series: string, size: number])[];
  /** Whether it is faded. */
  readonly isAside?: boolean;
  readonly onChoose: () => void;
}

interface BarChartProps extends Omit<ChartFrameProps, "children" | "reading"> {
  readonly bars: readonly Bar[];
  /** What it is called to choose a bar. */
  readonly choose: string;
}

/** A chart of bars, one of which is told below it: a finger and keys go from bar to bar there, at first from the last one. */
export function BarChart({ bars, choose, ...frame }: BarChartProps) {
  const [wanted, want] = useState<Bar["key"]>();
  const found = bars.findIndex(({ key }) => key === wanted);
  const last = bars.length - 1;
  const at = found === -1 ? last : found;
  const bar = bars[at];
  const text = bar?.title.replaceAll("\n", " · ");
  const reading = (
    <div class="chart-reading no-print">
      {last > 0 && (
        <input
          type="range"
          aria-label={`Bars of ${frame.title}`}
          aria-valuetext={text}
          min={0}
          max={last}
          value={at}
          onInput={({ currentTarget }) => want(bars[currentTarget.valueAsNumber]?.key)}
        />
      )}
      <span>{text}</span>
      {last > 0 && <LinkButton onClick={bar?.onChoose}>{choose}</LinkButton>}
    </div>
  );
  return (
    <ChartFrame {...frame} reading={reading}>
      {(y) => <Bars bars={bars} at={at} y={y} />}
    </ChartFrame>
  );
}

interface BarsProps {
  readonly bars: readonly Bar[];
  /** Index of the one that is told below. */
  readonly at: number;
  /** Gives the height of a value in the plot, from the top. */
  readonly y: (value: number) => number;
}

/** Bars side by side over the whole plot. */
function Bars({ bars, at, y }: BarsProps) {
  const step = PLOT.width / bars.length;
  const width = Math.min(28, Math.max(1.5, step - 1.5));
  return (
    <>
      {bars.map(({ key, title, parts, isAside = false, onChoose }, index) => {
        const x = index * step + (step - width) / 2;
        let value = 0;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: a short cut; keys reach the same in other ways
          <g
            key={key}
            class={`bar ${isAside ? "is-aside" : ""} ${index === at ? "is-told" : ""}`}
            onClick={onChoose}
          >
            <title>{title}</title>
            <rect class="bar-room" x={index * step} y={0} width={step} height={y(0)} />
            {parts.map(([series, size]) => {
              const from = y(value);
              value += size;
              const height = from - y(value);
              return (
                height > 0 && (
                  <rect key={series} class={series} x={x} y={y(value)} width={width} height={height} />
                )
              );
            })}
          </g>
        );
      })}
    </>
  );
}
