import type { ComponentChildren } from "preact";

/** A row of a table of what models used. */
export interface UsageRow {
  readonly key: string | number;
  readonly name: ComponentChildren;
  readonly cells: readonly string[];
  /** Whether it adds up the others. */
  readonly isSum?: boolean;
}

interface UsageTableProps {
  readonly class?: string;
  readonly title: string;
  /** What stands beside the title. */
  readonly tools?: ComponentChildren;
  /** Names of the columns, that of the rows' names first. */
  readonly columns: readonly string[];
  readonly rows: readonly UsageRow[];
  /** What stands below. */
  readonly children?: ComponentChildren;
}

/** A table of what models used; on a phone each row is a card, in which cells have the names of their columns. */
export function UsageTable({ class: extra = "", title, tools, columns, rows, children }: UsageTableProps) {
  return (
    <figure class="chart">
      <figcaption>
        {title}
        {tools}
      </figcaption>
      <div class="table-scroll">
        <table class={`model-table ${extra}`.trim()}>
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name}>{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, name, cells, isSum = false }) => (
              <tr key={key} class={isSum ? "is-sum" : ""}>
                <th scope="row">{name}</th>
                {cells.map((cell, index) => (
                  <td key={columns[index + 1]} data-name={columns[index + 1]}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {children}
    </figure>
  );
}
