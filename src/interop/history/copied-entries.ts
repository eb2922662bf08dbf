import { isStoredMessage, toRecord } from "../../core/context/entry-fields.ts";
import { makeEntryPath } from "../../core/context/entry-path.ts";
import { projectPath } from "../../core/context/session-context.ts";
import { getSystemTexts } from "../../core/context/system-message.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { addTo } from "../../core/format/group-by.ts";
import { toSafeString } from "../../core/format/json.ts";
import { getRedactedIds } from "../../core/format/redaction.ts";
import { toWellFormedText } from "../../core/format/well-formed-text.ts";
import type { ContinuedOrigin } from "../import/imported-session.ts";
import { getPath, listContents } from "./rebase-continuation.ts";

/**
 * Returns whether all copies in an imported session repeat entries on the exported path.
 *
 * Entries that have been redacted since then may differ, and a copy may quote a summary.
 *
 * @param original - Entries of the exported session.
 * @returns False also if no copy has content.
 * @remarks Cost: O(bytes of both sessions).
 */
export function hasExportedEntries(
  original: readonly AnySessionEntry[],
  imported: readonly AnySessionEntry[],
  { leafId, copiedIds }: ContinuedOrigin,
): boolean {
  const byId = new Map(original.map((entry) => [entry.id, entry]));
  const path = getPath(byId, leafId);
  const { messages } = projectPath(makeEntryPath(path));
  const byContent = new Map<string, object[]>();
  const inContext = messages.map((message) => ({ type: "message", message }));
  for (const entry of [...path, ...inContext])
    for (const key of makeContentKeys(entry)) addTo(byContent, key, entry);
  const summaries = path.flatMap((entry) =>
    "summary" in entry ? makeKey([toSafeString(entry.summary)]) : [],
  );
  const isQuote = (key: string) => summaries.some((summary) => summary !== "" && key.includes(summary));
  const keys = imported.filter(({ id }) => copiedIds.has(id)).flatMap(makeContentKeys);
  const missing = keys.filter((key) => byContent.get(key)?.pop() === undefined && !isQuote(key));
  const redactedIds = new Set(original.flatMap(getRedactedIds));
  const redacted = path.filter(({ id }) => redactedIds.has(id)).length;
  return keys.length > 0 && missing.length <= redacted;
}

/**
 * Returns keys for an entry's content and, for a system message, for its content with sections; empty if the entry has no
 * content.
 */
function makeContentKeys(entry: object): string[] {
  const { message } = toRecord(entry);
  const sections = isStoredMessage(message) && message.role === "system" ? getSystemTexts(message) : [];
  return [...new Set([makeKey(listContents(toRecord(entry))), makeKey(sections)])].filter(
    (key) => key !== "",
  );
}

/** Joins content without whitespace, because an export may split it differently. */
function makeKey(contents: readonly string[]): string {
  return toWellFormedText(contents.join("")).replace(/\s+/g, "");
}
