import { isStoredMessage, toArray, toNumber } from "../../../core/context/entry-fields.ts";
import { projectContextEntry } from "../../../core/context/project-entry.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import type { EntryBody } from "../entry-bodies.ts";
import type { Draft } from "../session-builder.ts";
import { toNonemptyText } from "../source-text.ts";

/** Stop reasons of answers that pi omits from a context and therefore from the messages that a compaction retains. */
const FAILED: ReadonlySet<unknown> = new Set(["error", "aborted", "deferred"]);

/**
 * Converts the body of a pi version 4 entry to the current version.
 *
 * @param parent - Parent of the entry.
 * @param parents - Parents of the earlier entries.
 * @returns Undefined if the record is not a valid pi entry.
 */
export function makeEntryBody(
  record: JsonRecord,
  parent: Draft | undefined,
  parents: ReadonlyMap<Draft, Draft | undefined>,
): EntryBody | undefined {
  const { kind: _, seq: __, lane: ___, id, parentId: ____, timestamp: _____, type, ...fields } = record;
  switch (type) {
    case "message":
      return isStoredMessage(fields["message"]) ? { type, ...fields } : undefined;
    case "custom":
      return toNonemptyText(fields["customType"]) === undefined ? undefined : { type, ...fields };
    case "model_change":
      return hasTexts(fields, "provider", "modelId") ? { type, ...fields } : undefined;
    case "thinking_level_change":
      return hasTexts(fields, "thinkingLevel") ? { type, ...fields } : undefined;
    case "active_tools_change":
      return Array.isArray(fields["activeToolNames"]) ? { type, ...fields } : undefined;
    case "branch_summary": {
      const { fromId, ...rest } = fields;
      return hasTexts(fields, "summary")
        ? { type, ...rest, fromId: toNonemptyText(fromId) ?? "root" }
        : undefined;
    }
    case "compaction": {
      if (!hasTexts(fields, "summary")) return undefined;
      const { retainedTail, tokensBefore, ...rest } = fields;
      const tail = toArray(retainedTail);
      const firstKeptEntryId = findFirstKept(tail, parent, parents);
      return {
        type,
        ...rest,
        tokensBefore: toNumber(tokensBefore),
        firstKeptEntryId: firstKeptEntryId ?? toNonemptyText(id) ?? "",
        ...(firstKeptEntryId === undefined && tail.length > 0 && { retainedTail: tail }),
      };
    }
    default:
      return undefined;
  }
}

function hasTexts(fields: JsonRecord, ...names: readonly string[]): boolean {
  return names.every((name) => typeof fields[name] === "string");
}

/** Finds the first entry of the messages that a compaction retains, if they directly precede it; undefined otherwise. */
function findFirstKept(
  tail: readonly unknown[],
  parent: Draft | undefined,
  parents: ReadonlyMap<Draft, Draft | undefined>,
): string | undefined {
  const rest = tail.filter(isKept);
  for (let at = parent; at !== undefined && at.type !== "compaction"; at = parents.get(at)) {
    const messages: unknown[] = projectContextEntry(at).filter(isKept);
    const same = rest.slice(rest.length - messages.length);
    if (messages.length > rest.length || encodeParsed(same) !== encodeParsed(messages)) return undefined;
    rest.length -= messages.length;
    if (messages.length > 0 && rest.length === 0) return at.id;
  }
  return undefined;
}

function isKept(message: unknown): boolean {
  return !isJsonRecord(message) || !FAILED.has(message["stopReason"]);
}
