import { toRecord } from "../../../core/context/entry-fields.ts";
import type { SessionEntry } from "../../../core/format/entry.ts";
import { isJsonRecord, type JsonObject } from "../../../core/format/json.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import { assistantMessage } from "../answer.ts";
import type { ModelIdentity } from "../dialect.ts";
import { findRaw, keepRaw } from "../raw-form.ts";

/** Hashes of an answer's request, stored with the answer and compared with later requests. */
export interface RequestRecord {
  readonly system: string;
  readonly tools: string;
  /** Hash of all messages, excluding thinking and cache markers. */
  readonly messages: string;
  /** Hash of the last thinking signature; empty if the request had no thinking signature. */
  readonly thinking: string;
}

/** Record of a request for a summary from the provider. */
export interface SummaryRecord {
  /** Hash of the system text. */
  readonly system: string;
  /** Hash of the tools; empty if they are unknown. */
  readonly tools: string;
  /** Hash of the summarized messages. */
  readonly messages: string;
  /** Hash of all messages before each kept answer with valid thinking, by the id of the answer's entry. */
  readonly kept: { readonly [entryId: string]: string };
}

/** Summary by the provider. Its block is sent back unchanged. */
export interface ProviderSummary {
  readonly block: object;
  readonly record: SummaryRecord;
}

/** Key in a compaction's `details` for the record of its request. */
const RECORD = "summaryRequestHash";

/** Creates the `details` of a compaction with the provider's summary. */
export function keepSummary({ block, record }: ProviderSummary): JsonObject {
  const { system, tools, messages, kept } = record;
  return { ...keepRaw("anthropic", [block]), [RECORD]: { system, tools, messages, kept: { ...kept } } };
}

/** Reads the summary of a compaction; undefined if the provider did not write it. */
export function readSummary(entry: SessionEntry | undefined): ProviderSummary | undefined {
  if (entry?.type !== "compaction") return undefined;
  const raw = findRaw(entry, "anthropic");
  const block: unknown = Array.isArray(raw) ? raw[0] : undefined;
  const { system, tools, messages, kept } = toRecord(toRecord(entry.details)[RECORD]);
  if (toRecord(block)["type"] !== "compaction" || !isJsonRecord(block) || !isJsonRecord(kept))
    return undefined;
  if (typeof system !== "string" || typeof tools !== "string" || typeof messages !== "string")
    return undefined;
  const hashes = Object.entries(kept).flatMap(([id, hash]) =>
    typeof hash === "string" ? [[id, hash] as const] : [],
  );
  return { block, record: { system, tools, messages, kept: Object.fromEntries(hashes) } };
}

/**
 * Returns the hashes of the request that contained a kept answer; undefined if the answer's thinking was invalid in that request.
 */
export function keptRecord({ record }: ProviderSummary, entryId: string): RequestRecord | undefined {
  const messages = Object.hasOwn(record.kept, entryId) ? record.kept[entryId] : undefined;
  return messages === undefined ? undefined : { ...record, messages, thinking: "" };
}

/** Replaces the summary at the start of a context with the provider's block. */
export function withSummaryBlock(
  messages: readonly AgentMessage[],
  summary: ProviderSummary | undefined,
  target: ModelIdentity | undefined,
): readonly AgentMessage[] {
  if (summary === undefined || target === undefined) return messages;
  const { provider, model } = target;
  const details = keepRaw("anthropic", [summary.block]);
  return messages.map((message): AgentMessage => {
    if (message.role !== "compactionSummary") return message;
    const { timestamp } = message;
    return assistantMessage([], { timestamp, provider, model, api: "anthropic-messages", details });
  });
}

/** Returns whether an answer consists only of a summary by its provider. A request may begin with such a summary. */
export function isSummaryBlock(raw: unknown): boolean {
  return Array.isArray(raw) && raw.length === 1 && toRecord(raw[0])["type"] === "compaction";
}
