import type { JsonRecord } from "../../../core/format/json.ts";
import type { OpenCodeInput } from "../../import/opencode/import-opencode.ts";
import { isoTimeOf, member, textOf } from "../../import/source-values.ts";
import type { FileFacts } from "../source-program.ts";

/** A session of OpenCode as one of its stores holds it, in the form of its exports. */
export type StoredSession = Pick<OpenCodeInput, "document" | "deleted" | "toolCallId" | "issues">;

/**
 * Returns the facts of a session.
 *
 * @param info - As in an export.
 * @param firstMs - When its first message was made, Unix milliseconds; 0 if unknown.
 */
export function factsOf(info: JsonRecord, firstMs: number): FileFacts[] {
  const sessionId = textOf(info["id"]);
  if (sessionId === undefined) return [];
  const startedAt = isoTimeOf(member(info, "time")["created"]);
  const begunAt = firstMs > 0 ? isoTimeOf(firstMs) : undefined;
  return [
    {
      source: "opencode",
      sessionId,
      cwd: textOf(info["directory"]) ?? "",
      startedAt,
      parentId: textOf(info["parentID"]),
      baseId: textOf(info["projectID"]),
      begunAt,
      // A fork copies messages with their times.
      isCopy: begunAt !== undefined && startedAt !== undefined && begunAt < startedAt,
    },
  ];
}
