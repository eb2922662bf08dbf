import { getSearchedText, type SearchedPart } from "../../catalog/query/search-text.ts";
import type { SearchHit } from "../../catalog/search/search.ts";
import { getResultToolName, getToolCalls } from "../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";

/** Names of the tools under any prefix, as in `mcp__sessiontree__search_sessions`. */
const RECALL_TOOL =
  /(?:^|[^a-z0-9])(?:search_sessions|read_entries|session_overview|find_failures|file_history)$|sessiontree[^a-z0-9]+usage$/i;

/** The tag that opens an answer; some agents escape and wrap what a hook writes. */
const FRAME = /(?:<hook_context>)?(?:<|&lt;)past-sessions(?:>|&gt;)/;

/** An answer with the line that follows its frame; one that was cut has no end. */
const FRAMES = new RegExp(
  `${FRAME.source}[\\s\\S]*?(?:(?:<|&lt;)/past-sessions(?:>|&gt;)(?:\\n[^\\n]*)?(?:</hook_context>)?|$)`,
  "g",
);

/** Returns whether a tool is one of those that answer about past sessions, whatever a client calls it. */
export function isRecallTool(name: string): boolean {
  return RECALL_TOOL.test(name);
}

/** Returns a text without what was recalled in it. */
export function withoutRecalled(text: string): string {
  return text.replace(FRAMES, "").trim();
}

/** Returns whether an entry is a result of a tool that answers about past sessions, or has calls of such tools alone. */
export function isRecallEntry(entry: AnySessionEntry | undefined): boolean {
  const calls = getToolCalls(entry);
  return (
    isRecallTool(getResultToolName(entry)) ||
    (calls.length > 0 && calls.every(({ name }) => isRecallTool(name)))
  );
}

/**
 * Returns whether a hit is in something that was recalled: in a call or result of these tools, or in a text with the frame of an
 * answer, as a handoff is.
 *
 * @param entry - The entry as it is stored.
 */
export function isEcho({ snippet, match }: SearchHit, entry: AnySessionEntry): boolean {
  if (isRecallTool(getResultToolName(entry))) return true;
  const parts = getSearchedText(entry)?.parts ?? [];
  const own = parts.filter((part) => !isRecalled(part));
  if (own.length === parts.length) return false;
  const found = snippet.slice(match.start, match.start + match.length);
  return !own.some(({ text }) => text.replace(/\s+/g, " ").includes(found));
}

function isRecalled({ text, call }: SearchedPart): boolean {
  return isRecallTool(call?.name ?? "") || FRAME.test(text);
}
