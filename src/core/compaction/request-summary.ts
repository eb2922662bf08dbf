import { toRecord } from "../context/entry-fields.ts";
import { toText } from "../context/message-parts.ts";
import { isUsage } from "../context/usage.ts";
import { waitUnlessAborted } from "../format/abort.ts";
import type { Usage } from "../format/content.ts";
import { isSessionError, SessionError } from "../format/errors.ts";
import { SUMMARY_SYSTEM_PROMPT, type SummaryKind } from "./prompts.ts";

/** Request for text from a model. */
export interface SummarizeRequest {
  systemPrompt: string;
  prompt: string;
  kind: "history" | "turnPrefix" | "branch";
  /** Signal that is aborted when the text is no longer needed. */
  signal?: AbortSignal;
}

/** Text that a model wrote. */
export interface SummarizeReply {
  text: string;
  usage?: Usage | undefined;
  /** Stop reason reported by the provider. */
  stopReason?: string | undefined;
}

/** Requests text from a model. The host implements this function, because this library does not call models. */
export type Summarize = (request: SummarizeRequest) => Promise<SummarizeReply>;

/** Request for a summary, without the system prompt. */
export interface WantedSummary {
  readonly kind: SummaryKind;
  readonly prompt: string;
  readonly signal?: AbortSignal | undefined;
}

/** Stop reasons that providers report for an incomplete reply, in lower case and without `-` and `_`. */
const UNFINISHED: ReadonlySet<string> = new Set([
  ...["length", "maxtokens", "maxoutputtokens", "modelcontextwindowexceeded"],
  ...["incomplete", "pending", "pauseturn", "deferred", "tooluse", "toolcalls", "functioncall"],
  ...["error", "failed", "aborted", "cancelled", "contentfilter", "safety", "refusal"],
]);

const CANCELLED: { readonly [kind in SummaryKind]: string } = {
  history: "Compaction cancelled",
  turnPrefix: "Compaction cancelled",
  branch: "Branch summary cancelled",
};

/**
 * Requests a summary from the model, and rejects replies that are not a summary.
 *
 * An abort takes effect immediately, even if the summarizer ignores the signal.
 *
 * @returns The trimmed text and its usage.
 * @throws {SessionError} `ABORTED` if the signal was aborted or the reply's stop reason is `aborted`; `SUMMARY_FAILED` if the
 *   summarizer threw, or the reply is empty or incomplete.
 */
export async function requestSummary(
  summarize: Summarize,
  wanted: WantedSummary,
): Promise<{ text: string; usage: Usage | undefined }> {
  const { kind } = wanted;
  const reply = toRecord(await requestReply(summarize, wanted));
  const text = toText(reply["text"]).trim();
  const stopReason = toText(reply["stopReason"]);
  const reason = stopReason.toLowerCase().replaceAll(/[-_]/g, "");
  if (reason === "aborted") throw makeCancelledError(kind, undefined);
  if (UNFINISHED.has(reason)) {
    throw makeFailedError(kind, `the model stopped for "${stopReason}" before it finished`, { stopReason });
  }
  if (text === "") throw makeFailedError(kind, "the reply is empty", { stopReason });
  const { usage } = reply;
  return { text, usage: isUsage(usage) ? usage : undefined };
}

async function requestReply(summarize: Summarize, wanted: WantedSummary): Promise<unknown> {
  const { kind, prompt, signal } = wanted;
  refuseCancelled(kind, signal);
  try {
    const request = { systemPrompt: SUMMARY_SYSTEM_PROMPT, prompt, kind, ...(signal && { signal }) };
    // Converts a synchronous exception from the summarizer to a rejection.
    const asked = (async () => summarize(request))();
    return await waitUnlessAborted(asked, signal, CANCELLED[kind]);
  } catch (error) {
    if (signal?.aborted) throw makeCancelledError(kind, signal.reason);
    if (isSessionError(error, "ABORTED")) throw makeCancelledError(kind, error);
    throw makeFailedError(kind, error instanceof Error ? error.message : "the summarizer failed", {}, error);
  }
}

function makeCancelledError(kind: SummaryKind, cause: unknown): SessionError {
  return new SessionError("ABORTED", CANCELLED[kind], { details: { kind }, cause });
}

function makeFailedError(
  kind: SummaryKind,
  what: string,
  details: { readonly [key: string]: unknown },
  cause?: unknown,
): SessionError {
  const message = `No summary was written: ${what}. Nothing was changed; try again, or continue without a model.`;
  return new SessionError("SUMMARY_FAILED", message, { details: { kind, ...details }, cause });
}

/** Throws an `ABORTED` error if the signal is aborted. */
export function refuseCancelled(kind: SummaryKind, signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw makeCancelledError(kind, signal.reason);
}
