import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { type JsonObject, toSafeString } from "../../../core/format/json.ts";
import { findSource } from "./request-digest.ts";

/** Provider's report on a thinking block in a request. */
interface InputTransformation {
  readonly type: string;
  readonly path: string;
  readonly reason: string;
  /** Id of the block's entry, if known. */
  readonly entryId?: string;
}

/** Key in an answer's `details` for the provider's reports on its request. */
const TRANSFORMATIONS = "inputTransformations";

/** Supported report types. Providers may add more. */
const TYPES: ReadonlySet<unknown> = new Set(["thinking_dropped", "thinking_mismatch_allowed"]);

/** Reads the reports on a request in its response, and creates the `details` that store them. */
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
    return [{ type, path, reason: toSafeString(reason), ...(entryId !== undefined && { entryId }) }];
  });
  return { list, details: list.length === 0 ? {} : { [TRANSFORMATIONS]: list.map((one) => ({ ...one })) } };
}

/**
 * Returns the ids of the entries whose thinking a provider reported as invalid in an answer's request, for any reason
 * except its model.
 */
export function listVoidEntries(message: object): string[] {
  const reported = toArray(toRecord(toRecord(message)["details"])[TRANSFORMATIONS]).map(toRecord);
  return reported.flatMap(({ reason, entryId }) =>
    reason !== "model_binding_mismatch" && typeof entryId === "string" ? [entryId] : [],
  );
}
