import { useState } from "preact/hooks";
import { ChartFrame, type ChartFrameProps, PLOT } from "./chart-frame.tsx";

/** A bar of a chart. */
export interface Bar {
  readonly key: string | number;
  /** What it tells, in lines: shown to those who point at it, and below the chart. */
  readonly title: string;
  /** Its parts from the bottom: the class of a colour, and a size. */
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
      {last > 0 && (
        <button type="button" class="link-button" onClick={bar?.onChoose}>
          {choose}
        </button>
      )}
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
