import { PLOT } from "./chart-frame.tsx";

/** A bar of a chart. */
export interface Bar {
  readonly key: string | number;
  /** Shown to those who point at it. */
  readonly title: string;
  /** Its parts from the bottom: the class of a colour, and a size. */
  readonly parts: readonly (readonly [series: string, size: number])[];
  /** Whether it is faded. */
  readonly isAside?: boolean;
  readonly onChoose: () => void;
}

interface BarsProps {
  readonly bars: readonly Bar[];
  /** Gives the height of a value in the plot, from the top. */
  readonly y: (value: number) => number;
}

/** Bars side by side over the whole plot. */
export function Bars({ bars, y }: BarsProps) {
  const step = PLOT.width / bars.length;
  const width = Math.min(28, Math.max(1.5, step - 1.5));
  return (
    <>
      {bars.map(({ key, title, parts, isAside = false, onChoose }, index) => {
        const x = index * step + (step - width) / 2;
        let value = 0;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: a short cut; keys reach the same in other ways
          <g key={key} class={isAside ? "bar is-aside" : "bar"} onClick={onChoose}>
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
