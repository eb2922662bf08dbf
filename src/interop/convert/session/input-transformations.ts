import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { JsonObject } from "../../../core/format/json.ts";
import { findSource } from "./request-digest.ts";

/** A provider's report on a thinking block in a request. */
interface InputTransformation {
  readonly type: string;
  readonly path: string;
  readonly reason: string;
  /** The entry of the block, if known. */
  readonly entryId?: string;
}

/** Key in an answer's `details` of the provider's reports on its request. */
const TRANSFORMATIONS = "inputTransformations";

/** Supported types of reports; others may follow. */
const TYPES: ReadonlySet<unknown> = new Set(["thinking_dropped", "thinking_mismatch_allowed"]);

/** Reads a response's reports on its request, and creates the `details` that keep them. */
export function keepTransformations(
  reported: unknown,
  request: object | undefined,
): { readonly list: readonly InputTransformation[]; readonly details: JsonObject } {
  const messages = toArray(toRecord(request)["messages"]);
  const list = toArray(reported).flatMap((one): InputTransformation[] => {
    const { type, path, reason } = toRecord(one);
    if (typeof type !== "string" || !TYPES.has(type) || typeof path !== "string") return [];
    const [, index = ""] = /^messages\.(\d+)\./.exec(path) ?? [];
    const entryId = findSource(messages[Number.parseInt(index, 10)])?.entry.id;
    return [{ type, path, reason: String(reason), ...(entryId !== undefined && { entryId }) }];
  });
  return { list, details: list.length === 0 ? {} : { [TRANSFORMATIONS]: list.map((one) => ({ ...one })) } };
}

/**
 * Lists the entries whose thinking a provider reported as invalid for an answer's request, for any reason but its
 * model.
 */
export function listVoidEntries(message: object): string[] {
  const reported = toArray(toRecord(toRecord(message)["details"])[TRANSFORMATIONS]).map(toRecord);
  return reported.flatMap(({ reason, entryId }) =>
    reason !== "model_binding_mismatch" && typeof entryId === "string" ? [entryId] : [],
  );
}
