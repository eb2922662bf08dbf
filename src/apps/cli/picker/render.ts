import { formatCount } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { getFolderName } from "../../../core/facts/session-title.ts";
import { formatAgo } from "../../../core/facts/times.ts";
import type { Colors } from "../output.ts";
import { fitColumn, measureWidth, truncateLine, truncateStart } from "../text/width.ts";
import { KIND_WIDTH } from "../view/entry-line.ts";
import { findCursor, findMatches, type PickerRow, type PickerState } from "./state.ts";

/** Screen of a picker. */
export interface PickerScreen {
  readonly columns: number;
  readonly rows: number;
  readonly colors: Colors;
  /** Current time in Unix milliseconds, for ages. */
  readonly nowMs: number;
}

/** Number of lines above the list, and below the preview. */
const HEAD_LINES = 2;
const FOOT_LINES = 1;

/** Minimum number of lines for a preview. */
const PREVIEW_FROM = 9;

const PREVIEW_PART = 0.4;

const AGE_WIDTH = 10;

/** Minimum number of columns for displaying the number of messages. */
const COUNT_FROM = 60;

const PROJECT_PART = 0.2;

const TITLES = { project: "Sessions of this project", all: "Sessions of all projects", folder: "Sessions" };

/** Allocation of the lines on a screen. */
export interface PickerLayout {
  readonly list: number;
  /** Number of lines in the preview, without the line above it; 0 if there is no preview. */
  readonly preview: number;
}

/** Allocates the lines of a screen. */
export function makePickerLayout(rows: number): PickerLayout {
  const middle = Math.max(1, rows - HEAD_LINES - FOOT_LINES);
  if (rows < PREVIEW_FROM) return { list: middle, preview: 0 };
  const preview = Math.floor((middle - 1) * PREVIEW_PART);
  return { list: middle - 1 - preview, preview };
}

/**
 * Renders a picker.
 *
 * @returns At most as many lines as the screen has rows, none wider than the screen, and without control sequences other than
 *   colors.
 * @remarks Cost: O(characters in all rows), for the filter.
 */
export function renderPicker(state: PickerState, screen: PickerScreen): string[] {
  const { columns, rows, colors } = screen;
  const { list, preview } = makePickerLayout(rows);
  const matches = findMatches(state);
  const lines = [
    formatHeading(state, matches.length, screen),
    formatInput(state, screen),
    ...listLines(state, matches, list, screen),
    ...(preview === 0
      ? []
      : [colors.dim("─".repeat(columns)), ...formatPreview(state, matches, preview, screen)]),
    formatFooter(state, screen),
  ];
  return lines.slice(0, rows);
}

function formatHeading(state: PickerState, shown: number, { columns, colors }: PickerScreen): string {
  const total = state.sessions.length;
  const number = shown === total ? formatCount(total) : `${formatCount(shown)}/${formatCount(total)}`;
  const isComplete = state.isComplete && state.contents?.isComplete !== false;
  const facts = `  ${number}${isComplete ? "" : " …"}`;
  return colors.bold(truncateLine(TITLES[state.scope], columns - facts.length)) + colors.dim(facts);
}

/** Formats the input line, or the question. */
function formatInput(state: PickerState, { columns, colors }: PickerScreen): string {
  const { mode, filter } = state;
  if (mode.kind === "delete") {
    const title = state.sessions.find(({ path }) => path === mode.path)?.title ?? "";
    const [front, back] = ["Delete ", "? y/n"];
    return colors.bold(colors.red(front + truncateLine(title, columns - front.length - back.length) + back));
  }
  const prompt = state.contents === undefined ? "> " : "Contents: ";
  const [front, typed] = mode.kind === "rename" ? ["Name: ", mode.text] : [prompt, filter];
  const text = truncateStart(toPlainTyped(typed), columns - front.length - 1);
  return colors.cyan(front) + text + colors.inverse(" ");
}

/** Returns typed text as a safe line, including spaces at its end. */
function toPlainTyped(text: string): string {
  const line = toPlainLine(`${text}.`);
  return line.slice(0, -1);
}

function listLines(
  state: PickerState,
  matches: readonly PickerRow[],
  height: number,
  screen: PickerScreen,
): string[] {
  const cursor = findCursor(matches, state);
  const top = Math.max(0, Math.min(cursor - Math.floor(height / 2), matches.length - height));
  const lines = matches
    .slice(top, top + height)
    .map((session, i) => formatSessionRow(session, top + i === cursor, state, screen));
  if (matches.length === 0) lines.push(screen.colors.dim(truncateLine(formatNothing(state), screen.columns)));
  while (lines.length < height) lines.push("");
  return lines;
}

function formatNothing(state: PickerState): string {
  if (!state.isComplete || state.contents?.isComplete === false) return "  Looking for sessions …";
  if (state.contents !== undefined) return "  No messages match.";
  if (state.sessions.length > 0) return "  No sessions match.";
  return state.scope === "project" ? "  No sessions here; tab shows all projects." : "  No sessions.";
}

function formatSessionRow(
  session: PickerRow,
  isHighlighted: boolean,
  { scope }: PickerState,
  { columns, colors, nowMs }: PickerScreen,
): string {
  const { modified, messageCount, cwd, name } = session;
  const marker = isHighlighted ? "❯ " : "  ";
  const facts = [
    fitColumn(formatAgo(modified.getTime(), nowMs), AGE_WIDTH),
    ...(columns < COUNT_FROM ? [] : [formatCount(messageCount).padStart(5)]),
    ...(scope === "project"
      ? []
      : [fitColumn(toPlainLine(getFolderName(cwd)), Math.floor(columns * PROJECT_PART))]),
  ].join("  ");
  const text = truncateLine(
    session.kinship + session.title,
    Math.max(0, columns - measureWidth(marker) - measureWidth(facts) - 2),
  );
  const shown = name ? colors.bold(text) : text;
  return isHighlighted
    ? colors.cyan(`${marker}${facts}  ${shown}`)
    : `${marker}${colors.dim(facts)}  ${shown}`.trimEnd();
}

/**
 * Formats the highlighted session's last messages, or its messages that match the search: as many as fit, with the latest at the
 * bottom.
 */
function formatPreview(
  state: PickerState,
  matches: readonly PickerRow[],
  height: number,
  { columns, colors }: PickerScreen,
): string[] {
  const path = matches[findCursor(matches, state)]?.path;
  const said = state.contents?.found ?? state.previews;
  const known = path === undefined ? [] : (said.get(path) ?? state.previews.get(path) ?? []);
  const lines = known.slice(-height).map(({ word, text }) => {
    const front = fitColumn(word, Math.min(KIND_WIDTH, columns));
    return `${colors.dim(front)} ${truncateLine(text, Math.max(0, columns - measureWidth(front) - 1))}`;
  });
  while (lines.length < height) lines.push("");
  return lines;
}

/** Formats the latest message or, if there is none, as many key hints as fit. */
function formatFooter(state: PickerState, { columns, colors }: PickerScreen): string {
  if (state.message !== "") return colors.yellow(truncateLine(toPlainLine(state.message), columns));
  let line = "";
  for (const hint of getHints(state)) {
    const longer = line === "" ? hint : `${line}  ${hint}`;
    if (longer.length > columns) break;
    line = longer;
  }
  return colors.dim(line);
}

function getHints({ contents, mode, scope }: PickerState): string[] {
  if (mode.kind === "rename") return ["enter saves", "esc goes back"];
  if (mode.kind === "delete") return ["y moves it to the trash", "any other key goes back"];
  const other = scope === "project" ? "all projects" : "this project";
  return [
    "enter choose",
    "^R rename",
    "^D delete",
    contents === undefined ? "^F contents" : "^F names",
    ...(scope === "folder" ? [] : [`tab ${other}`]),
    contents === undefined ? "esc leave" : "esc back",
  ];
}
