import { formatKinship } from "../../../catalog/list/lineage.ts";
import { formatCount } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { getFolderName } from "../../../core/facts/session-title.ts";
import { formatLastUse } from "../../../core/facts/times.ts";
import { formatCost, makeEmptySpent, type Spent } from "../../../core/facts/usage-tally.ts";
import type { CommandCall } from "../command.ts";
import type { Colors, Output } from "../output.ts";
import type { ListedRow } from "../stored-sessions.ts";
import { fitColumn, measureWidth } from "../text/width.ts";
import { formatTextAfter, MIN_TEXT_WIDTH, takeShortId } from "./entry-line.ts";

const NAME_TITLE = "name";

/** Maximum width of the project, as a fraction of the terminal's. */
const PROJECT_PART = 0.25;

/** Width of `2026-11-23` and `Today 09:30`, in columns. */
const DAY_WIDTH = 11;

/** Minimum terminal width, in columns, for displaying the program and the model. */
const PROGRAM_FROM = 100;
const MAX_MODEL_WIDTH = 24;

/** Program and model of a session. */
export interface Origin {
  /** Program that the session was imported from; null for a session that was not imported. */
  readonly program: string | null;
  /** Model that made most of its calls. */
  readonly model: string | null;
}

interface TableOptions {
  /** Whether the sessions may belong to several projects. */
  readonly withProject: boolean;
  /** By path. */
  readonly costs: ReadonlyMap<string, Spent>;
  /** By path. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Number of characters of an id. */
  readonly idLength: number;
}

/** Column of the table. */
interface Column {
  readonly title: string;
  /** 0 for a column without content. */
  readonly width: number;
  /** Importance: on a narrow terminal, columns with higher ranks are omitted; the column with rank 0 is always shown. */
  readonly rank: number;
  /** By row. */
  readonly texts: readonly string[];
  readonly isNumber?: boolean;
  readonly paint?: (text: string) => string;
}

/**
 * Writes one line per session: short id, day, number of messages, cost, project (if there is more than one), program and model
 * (on a wide terminal), and title.
 */
export function writeSessionTable(
  { out, io }: CommandCall,
  sessions: readonly ListedRow[],
  options: TableOptions,
): void {
  const { colors, width } = out;
  const columns = [
    ...makeMainColumns(sessions, options, colors, io.now()),
    makeProjectColumn(sessions, options.withProject, out),
    ...makeOriginColumns(sessions, options.origins, out),
  ];
  const shown = chooseColumns(columns, width);
  const titles = shown.map((column) => formatCell(column, column.title));
  out.line(colors.dim([...titles, NAME_TITLE].join("  ")));
  sessions.forEach((session, row) => {
    const cells = shown.map((column) => {
      const cell = formatCell(column, column.texts[row] ?? "");
      return column.paint === undefined ? cell : column.paint(cell);
    });
    out.line(formatRow(session, cells.join("  "), out));
  });
}

/** Returns the columns for id, day, number of messages, and cost. */
function makeMainColumns(
  sessions: readonly ListedRow[],
  { costs, idLength }: TableOptions,
  { dim }: Colors,
  now: number,
): Column[] {
  const prices = sessions.map(({ path }) => {
    const spent = costs.get(path ?? "");
    return spent === undefined || spent.calls === 0 ? "" : formatCost(spent);
  });
  const isPriced = prices.some((price) => price !== "" && price !== formatCost(makeEmptySpent()));
  const numbers = sessions.map(({ messageCount }) => formatCount(messageCount));
  const ids = sessions.map(({ id }) => takeShortId(id, idLength));
  const days = sessions.map(({ modified }) => formatLastUse(modified.getTime(), now));
  const [count, cost] = ["messages", "cost"];
  return [
    { title: "id", width: idLength, rank: 0, texts: ids, paint: dim },
    { title: "last used", width: DAY_WIDTH, rank: 1, texts: days },
    {
      title: count,
      width: measureColumn(count, numbers),
      rank: 4,
      texts: numbers,
      isNumber: true,
      paint: dim,
    },
    {
      title: cost,
      width: isPriced ? measureColumn(cost, prices) : 0,
      rank: 3,
      texts: prices,
      isNumber: true,
    },
  ];
}

/** Returns the column that distinguishes sessions with similar titles. */
function makeProjectColumn(
  sessions: readonly ListedRow[],
  withProject: boolean,
  { colors, width }: Output,
): Column {
  const title = "project";
  const texts = sessions.map(({ cwd }) => toPlainLine(getFolderName(cwd)));
  const longest = Math.max(title.length, ...texts.map(measureWidth));
  const ownWidth = withProject ? Math.min(longest, Math.floor(width * PROJECT_PART)) : 0;
  return { title, width: ownWidth, rank: 2, texts, paint: colors.cyan };
}

/** Returns the columns for program and model, which matter least to a reader. */
function makeOriginColumns(
  sessions: readonly ListedRow[],
  origins: TableOptions["origins"],
  { colors, width }: Output,
): Column[] {
  const getOrigin = ({ path = "" }: ListedRow) => (width < PROGRAM_FROM ? undefined : origins.get(path));
  // With --source, each row ends with its program.
  const programs = sessions.map((one) => (one.source === undefined ? (getOrigin(one)?.program ?? "") : ""));
  const models = sessions.map((one) => toPlainLine(getOrigin(one)?.model ?? ""));
  const [program, model] = ["program", "model"];
  const modelWidth = Math.min(MAX_MODEL_WIDTH, measureColumn(model, models));
  return [
    { title: program, width: measureColumn(program, programs), rank: 5, texts: programs, paint: colors.dim },
    { title: model, width: modelWidth, rank: 6, texts: models, paint: colors.dim },
  ];
}

/** Returns the width of a column; 0 if it is empty in all rows. */
function measureColumn(title: string, texts: readonly string[]): number {
  const longest = Math.max(0, ...texts.map(measureWidth));
  return longest === 0 ? 0 : Math.max(title.length, longest);
}

/** Chooses columns in order of importance as long as space for a name remains. A column of width 0 is omitted. */
function chooseColumns(columns: readonly Column[], width: number): readonly Column[] {
  const shown = new Set<Column>();
  let room = width - MIN_TEXT_WIDTH;
  for (const column of columns.toSorted((a, b) => a.rank - b.rank)) {
    const needed = column.width + 2;
    if (column.rank > 0 && (needed === 2 || needed > room)) continue;
    room -= needed;
    shown.add(column);
  }
  return columns.filter((column) => shown.has(column));
}

function formatCell({ width, isNumber = false }: Column, text: string): string {
  return isNumber ? text.padStart(width) : fitColumn(text, width);
}

/** Formats the row of a session: its cells, with --source its program, and its title. */
function formatRow(session: ListedRow, cells: string, out: Output): string {
  const { colors } = out;
  const { name, title, issueCount = 0, source, sourceGone = false } = session;
  const mark = issueCount > 0 ? "! " : "";
  const origin = source === undefined ? "" : `  ${colors.dim(`${source}${sourceGone ? " (gone)" : ""}`)}`;
  const paint = (text: string) => {
    const front = text.startsWith(mark) ? mark : "";
    const rest = text.slice(front.length);
    return colors.red(front) + (name === undefined ? rest : colors.bold(rest));
  };
  return formatTextAfter(`${cells}${origin}`, `${mark}${formatKinship(session)}${title}`, out, paint);
}
