import type { ComponentChildren, TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { roundValues } from "../model/format.ts";
import { LinkButton } from "./controls.tsx";
import { TOUCH, WIDE } from "./viewport.ts";

/** Size of a chart's plot, in its own units. */
export const PLOT = { width: 760, height: 180 } as const;

/** Assumed width of a chart with its labels until it is drawn, and width of a label character, in pixels. */
const FRAME = matchMedia(WIDE).matches ? { width: 822, character: 7 } : { width: 340, character: 8.4 };

/** Space above the plot and below it. */
const MARGIN = 10;

/** Space between the labels and the plot. */
const GAP = 8;

/** Content of a chart. */
interface ChartFrameProps {
  readonly title: string;
  /** Meaning of the colors. */
  readonly legend: readonly (readonly [series: string, word: string])[];
  readonly max: number;
  readonly write: (value: number) => string;
  /** Height of the plot, in its units. */
  readonly height?: number;
  /** Draws into the plot; `y` returns the position of a value, measured from the top. */
  readonly children: (y: (value: number) => number) => ComponentChildren;
  /** Content below the chart. */
  readonly reading?: ComponentChildren;
  /** Whether the drawn parts can be focused and chosen. */
  readonly isInteractive?: boolean;
}

/** Chart: title, legend, horizontal lines, and the content drawn between them. */
export function ChartFrame(props: ChartFrameProps) {
  const { title, legend, max, write, height = PLOT.height, children, reading, isInteractive = false } = props;
  const values = roundValues(max);
  const greatest = values.at(-1) ?? 1;
  const svg = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(FRAME.width);
  // A unit is a pixel, so that labels get the size that the style sheet sets. In a closed fold, the width is unknown.
  useLayoutEffect(() => setWidth(svg.current?.clientWidth || FRAME.width), []);
  const { character } = FRAME;
  const labels = values.map(write);
  const left = Math.max(...labels.map((label) => label.length)) * character + GAP;
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
      <svg
        ref={svg}
        viewBox={`0 ${-MARGIN} ${width} ${height + 2 * MARGIN}`}
        role={isInteractive ? "group" : "img"}
        aria-label={title}
      >
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

/** Bar of a chart. */
export interface Bar {
  readonly key: string | number;
  /** Description, in lines: shown on hover, and below the chart. */
  readonly title: string;
  /** Its parts from bottom to top, each with a color class and a size. */
  readonly parts: readonly (readonly [series: string, size: number])[];
  /** Whether it is faded. */
  readonly isAside?: boolean;
  readonly onChoose: () => void;
}

interface BarChartProps extends Omit<ChartFrameProps, "children" | "reading"> {
  readonly bars: readonly Bar[];
  /** Label of the button that chooses a bar. */
  readonly choose: string;
}

/** Movements of the arrow keys, Home, and End among the bars. */
const BAR_STEPS: ReadonlyMap<string, (at: number, last: number) => number> = new Map([
  ["ArrowLeft", (at: number) => at - 1],
  ["ArrowDown", (at: number) => at - 1],
  ["ArrowRight", (at: number) => at + 1],
  ["ArrowUp", (at: number) => at + 1],
  ["Home", () => 0],
  ["End", (_: number, last: number) => last],
]);

/** Bar chart with a description of one bar below it, initially the last bar. Arrow keys move the focus from bar to bar. */
export function BarChart({ bars, choose, ...frame }: BarChartProps) {
  const [wanted, want] = useState<Bar["key"]>();
  const found = bars.findIndex(({ key }) => key === wanted);
  const last = bars.length - 1;
  const at = found === -1 ? last : found;
  const bar = bars[at];
  const reading = (
    <div class="chart-reading no-print">
      <span>{bar?.title.replaceAll("\n", " · ")}</span>
      {last > 0 && <LinkButton onClick={bar?.onChoose}>{choose}</LinkButton>}
    </div>
  );
  return (
    <ChartFrame {...frame} reading={reading} isInteractive={true}>
      {(y) => <Bars bars={bars} at={at} y={y} onWant={(index) => want(bars[index]?.key)} />}
    </ChartFrame>
  );
}

interface BarsProps {
  readonly bars: readonly Bar[];
  /** Index of the bar that is described below. */
  readonly at: number;
  /** Returns the position of a value in the plot, from the top. */
  readonly y: (value: number) => number;
  /** Describes another bar. */
  readonly onWant: (index: number) => void;
}

/** Bars side by side across the whole plot; the Tab key reaches one of them. */
function Bars({ bars, at, y, onWant }: BarsProps) {
  const step = PLOT.width / bars.length;
  const onKeyDown = (event: TargetedKeyboardEvent<SVGGElement>) => {
    const move = BAR_STEPS.get(event.key);
    if (move !== undefined) {
      const last = bars.length - 1;
      const next = event.currentTarget.parentElement?.children[Math.min(last, Math.max(0, move(at, last)))];
      if (next instanceof SVGElement) next.focus();
    } else if (event.key === "Enter" || event.key === " ") bars[at]?.onChoose();
    else return;
    event.preventDefault();
  };
  return (
    <g>
      {bars.map((bar, index) => (
        // biome-ignore lint/a11y/useSemanticElements: HTML has no buttons within a drawing
        <g
          key={bar.key}
          class={`bar ${bar.isAside ? "is-aside" : ""} ${index === at ? "is-told" : ""}`}
          role="button"
          tabIndex={index === at ? 0 : -1}
          aria-label={bar.title.replaceAll("\n", ", ")}
          onFocus={() => onWant(index)}
          onKeyDown={onKeyDown}
          onClick={() => {
            // A finger covers its target, so a tap only describes the bar, and the button below chooses it.
            if (matchMedia(TOUCH).matches) onWant(index);
            else bar.onChoose();
          }}
        >
          <title>{bar.title}</title>
          <BarParts bar={bar} x={index * step} step={step} y={y} />
        </g>
      ))}
    </g>
  );
}

interface BarPartsProps extends Pick<BarsProps, "y"> {
  readonly bar: Bar;
  /** Left edge of its space, and the width of that space. */
  readonly x: number;
  readonly step: number;
}

/** Space of a bar, and its stacked parts. */
function BarParts({ bar, x, step, y }: BarPartsProps) {
  const width = Math.min(28, Math.max(1.5, step - 1.5));
  let value = 0;
  return (
    <>
      <rect class="bar-room" x={x} y={0} width={step} height={y(0)} />
      {bar.parts.map(([series, size]) => {
        const from = y(value);
        value += size;
        const height = from - y(value);
        return (
          height > 0 && (
            <rect
              key={series}
              class={series}
              x={x + (step - width) / 2}
              y={y(value)}
              width={width}
              height={height}
            />
          )
        );
      })}
    </>
  );
}
