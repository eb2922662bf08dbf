import type { SearchHit } from "../../catalog/search/search.ts";
import { joinTabs, toPlainLine } from "../../core/facts/plain-text.ts";
import { formatLastUse } from "../../core/facts/times.ts";
import { getMessageKind } from "../text/entry-kind.ts";
import type { CommandCall } from "./command.ts";
import type { FoundEntry } from "./found-sessions.ts";
import type { Output } from "./output.ts";
import type { ListedRow } from "./stored-sessions.ts";
import { fitColumn, measureWidth, truncateLine, truncateStart, wrapText } from "./text/width.ts";
import { formatKindColumn, formatTextAfter, MIN_TEXT_WIDTH, takeShortId } from "./view/entry-line.ts";

/** Width of an id, in columns: enough for sessiontree ids, and for the beginning of longer ids. */
const ID_WIDTH = 8;

/** Maximum width of an id, in columns. */
export const MAX_ID_WIDTH = 18;

/** Formats an entry as a line for a pipe. */
export function formatFoundEntry({ session, entryId, role, snippet, branch }: FoundEntry): string {
  const path = session.path ?? session.store ?? "";
  return joinTabs([session.id, entryId, role, snippet, path, ...(branch === "left" ? [branch] : [])]);
}

/** Converts an entry to the `--json` format. */
export function toFoundEntryJson({
  session: { id, path, store, cwd, name },
  entryId,
  ...hit
}: FoundEntry): object {
  return { session: { id, path, store, cwd, name }, entry: entryId, ...hit };
}

/** Writes the line that identifies the session of the entries below it. */
export function writeFoundSession(
  { io, out }: CommandCall,
  session: ListedRow,
  { idLength, isFurther }: { readonly idLength: number; readonly isFurther: boolean },
): void {
  const { colors } = out;
  const { id, modified } = session;
  if (isFurther) out.line();
  const front = `${takeShortId(id, idLength)}  ${formatLastUse(modified.getTime(), io.now())}`;
  out.line(formatTextAfter(colors.dim(front), session.title, out, colors.bold));
}

/** Writes an entry that matches a search, with the match visible. */
export function writeFoundEntry({ entryId, role, snippet, match, branch }: FoundEntry, out: Output): void {
  const { colors, width } = out;
  const id = takeShortId(entryId, MAX_ID_WIDTH);
  const front = [
    colors.dim(fitColumn(id, Math.max(ID_WIDTH, measureWidth(id)))),
    formatKindColumn(colors, getMessageKind({ role })),
    ...(branch === "left" ? [colors.dim("left branch")] : []),
  ].join(" ");
  const room = width - measureWidth(front) - 4;
  const text = toPlainLine(snippet);
  // A failure's message is at the end of its text, so the text is not truncated to one line.
  if (match.length === 0 && measureWidth(text) > room) {
    out.line(`  ${front.trimEnd()}`);
    for (const line of wrapText(text, width - 4)) out.line(`    ${line}`);
  } else if (room >= MIN_TEXT_WIDTH)
    out.line(`  ${front}  ${markMatch(snippet, match, room, out)}`.trimEnd());
  else
    out.line(`  ${front.trimEnd()}
    ${markMatch(snippet, match, width - 4, out)}`);
}

/** Truncates a snippet to fit, with the match visible and in another color. */
function markMatch(
  snippet: string,
  { start, length }: SearchHit["match"],
  width: number,
  out: Output,
): string {
  const found = truncateLine(toPlainPart(snippet.slice(start, start + length)), width);
  const before = toPlainPart(snippet.slice(0, start));
  const after = toPlainPart(snippet.slice(start + length));
  const room = width - measureWidth(found);
  const front = truncateStart(before, Math.max(Math.floor(room / 2), room - measureWidth(after)));
  return `${front}${out.colors.bold(out.colors.yellow(found))}${truncateLine(after, room - measureWidth(front))}`;
}

/** Makes part of a line safe to print, and keeps leading and trailing spaces. */
function toPlainPart(text: string): string {
  return toPlainLine(`.${text}.`).slice(1, -1);
}
