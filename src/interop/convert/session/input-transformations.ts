import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { JsonObject } from "../../../core/format/json.ts";
import { findSource } from "./request-digest.ts";

/** What a provider reports of a block of thinking in a request. */
interface InputTransformation {
  readonly type: string;
  readonly path: string;
  readonly reason: string;
  /** The entry of the block, if that is known. */
  readonly entryId?: string;
}

/** Key in `details` of an answer for what the provider reports of its request. */
const TRANSFORMATIONS = "inputTransformations";

/** Types of reports that are understood; others may come. */
const TYPES: ReadonlySet<unknown> = new Set(["thinking_dropped", "thinking_mismatch_allowed"]);

/** Reads what a response reports of its request, and makes the `details` that keep it. */
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

/** Lists the entries whose thinking a provider reported as void to the request of an answer, for any reason but its model. */
export function listVoidEntries(message: object): string[] {
  const reported = toArray(toRecord(toRecord(message)["details"])[TRANSFORMATIONS]).map(toRecord);
  return reported.flatMap(({ reason, entryId }) =>
    reason !== "model_binding_mismatch" && typeof entryId === "string" ? [entryId] : [],
  );
}
