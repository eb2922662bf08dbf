import { getSearchedText, type SearchedPart } from "../../catalog/query/search-text.ts";
import type { SearchHit } from "../../catalog/search/search.ts";
import { getResultToolName, getToolCalls } from "../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";

/** Names of the recall tools under any prefix, as in `mcp__sessiontree__search_sessions`. */
const RECALL_TOOL =
  /(?:^|[^a-z0-9])(?:search_sessions|read_entries|session_overview|find_failures|file_history)$|sessiontree[^a-z0-9]+usage$/i;

/** Opening tag of an answer; some agents escape and wrap a hook's output. */
const FRAME = /(?:<hook_context>)?(?:<|&lt;)past-sessions(?:>|&gt;)/;

/** Answer with the line after its frame; a truncated answer has no end. */
const FRAMES = new RegExp(
  `${FRAME.source}[\\s\\S]*?(?:(?:<|&lt;)/past-sessions(?:>|&gt;)(?:\\n[^\\n]*)?(?:</hook_context>)?|$)`,
  "g",
);

/** Returns whether a tool is a recall tool, regardless of the prefix that a client adds to its name. */
export function isRecallTool(name: string): boolean {
  return RECALL_TOOL.test(name);
}

/** Returns text without recalled content. */
export function withoutRecalled(text: string): string {
  return text.replace(FRAMES, "").trim();
}

/** Returns whether an entry is a result of a recall tool, or has only calls of recall tools. */
export function isRecallEntry(entry: AnySessionEntry | undefined): boolean {
  const calls = getToolCalls(entry);
  return (
    isRecallTool(getResultToolName(entry)) ||
    (calls.length > 0 && calls.every(({ name }) => isRecallTool(name)))
  );
}

/**
 * Returns whether a hit is in recalled content: in a call or result of a recall tool, or in text with an answer's
 * frame, such as a handoff.
 *
 * @param entry - The entry in stored form.
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
