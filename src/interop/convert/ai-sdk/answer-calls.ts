import { toRecord } from "../../../core/context/entry-fields.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { getCallState, withoutFields } from "../raw-form.ts";
import type { PlannedAnswer, PlannedResult } from "../request-plan.ts";
import { getCallId } from "../tool-ids.ts";
import type {
  AiSdkMajor,
  ModelAnswerPart,
  ModelApprovalRequestPart,
  ModelToolPart,
  ModelToolResultPart,
} from "./model-message-types.ts";
import { getToolName } from "./ui-parts.ts";

/** Text that the SDK writes as the result of a denied call. */
const DENIED = "Tool call execution denied.";

/** Rules for writing calls and approval requests. */
export interface ApprovalDialect {
  readonly sdk: AiSdkMajor;
  /** Whether the answer is the last message of the request, so that the SDK runs approved calls. */
  readonly isLast: boolean;
  readonly getId: (id: string) => string;
  readonly writeResult: (result: PlannedResult) => ModelToolResultPart;
}

/** Calls in one answer, with their state, approval requests, and outcomes. */
export class AnswerCalls {
  readonly #dialect: ApprovalDialect;
  /** Tool parts by call id in the request. */
  readonly #parts: ReadonlyMap<string, JsonRecord>;
  readonly #results: ReadonlyMap<string, PlannedResult>;

  constructor(answer: PlannedAnswer, parts: readonly JsonRecord[], dialect: ApprovalDialect) {
    const { getId } = dialect;
    const calls = answer.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    const ids = new Map(calls.map((id) => [getCallId(id), getId(id)]));
    this.#dialect = dialect;
    this.#parts = new Map(
      parts.map((part) => {
        const id = toSafeString(part["toolCallId"]);
        return [ids.get(id) ?? id, part];
      }),
    );
    this.#results = new Map(answer.results.map((result) => [getId(result.message.toolCallId), result]));
  }

  /** Adds state to calls that received it later, and inserts each approval request after its call. */
  withRequests(content: readonly ModelAnswerPart[]): ModelAnswerPart[] {
    return content.flatMap((part) => {
      const call = part.type === "tool-call" ? this.#parts.get(part.toolCallId) : undefined;
      if (call === undefined || part.type !== "tool-call") return [part];
      const state = part.providerOptions === undefined ? getCallState(call) : undefined;
      const written = state === undefined ? part : Object.assign({}, part, { providerOptions: state });
      if (call["approval"] === undefined) return [written];
      return [written, writeRequest(call, part.toolCallId, this.#dialect.sdk)];
    });
  }

  /** Writes the results and approvals that follow the answer, in the order of its calls. */
  writeOutcomes(content: readonly ModelAnswerPart[]): ModelToolPart[] {
    const calls = content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    return [...new Set([...calls, ...this.#results.keys()])].flatMap((id) => {
      const [part, result] = [this.#parts.get(id), this.#results.get(id)];
      if (part === undefined) return result === undefined ? [] : [this.#dialect.writeResult(result)];
      return [...writeResponse(part), ...this.#writeOutcome(part, id, result)];
    });
  }

  #writeOutcome(part: JsonRecord, toolCallId: string, result: PlannedResult | undefined): ModelToolPart[] {
    const { sdk, isLast, writeResult } = this.#dialect;
    const { state, approval, providerExecuted, callProviderMetadata } = part;
    const { approved, reason } = toRecord(approval);
    if (providerExecuted === true) return [];
    const options = callProviderMetadata === undefined ? {} : { providerOptions: callProviderMetadata };
    const denial = {
      type: "tool-result" as const,
      toolCallId,
      toolName: toSafeString(getToolName(part)),
      ...options,
    };
    const said = typeof reason === "string" ? reason : undefined;
    // Version 5 supports neither approvals nor denials. The result contains the reason.
    if (sdk > 5 && state === "output-denied")
      return [{ ...denial, output: { type: "error-text", value: said ?? DENIED } }];
    if (sdk > 5 && state === "approval-responded" && approved === false) {
      // Version 6 adds the result itself and reports it to the page.
      const output = { type: "execution-denied" as const, ...(said !== undefined && { reason: said }) };
      return sdk === 6 && isLast ? [] : [{ ...denial, output }];
    }
    const isOpen = result?.isMade === true && approval !== undefined;
    if (result === undefined || (isOpen && isLast && sdk > 5)) return [];
    return [writeResult(result)];
  }
}

function writeRequest(part: JsonRecord, toolCallId: string, sdk: AiSdkMajor): ModelApprovalRequestPart {
  const { id, isAutomatic, requestReason: reason, inputSchemaInput, signature } = toRecord(part["approval"]);
  const ofSeven = sdk === 7 ? { isAutomatic, reason } : {};
  const approvalId = toSafeString(id);
  return {
    type: "tool-approval-request",
    approvalId,
    toolCallId,
    ...withoutFields({ ...ofSeven, inputSchemaInput, signature }),
  };
}

function writeResponse({ approval, providerExecuted }: JsonRecord): ModelToolPart[] {
  const { id, approved, reason } = toRecord(approval);
  if (typeof approved !== "boolean") return [];
  return [
    {
      type: "tool-approval-response",
      approvalId: toSafeString(id),
      approved,
      ...(typeof reason === "string" && { reason }),
      ...(typeof providerExecuted === "boolean" && { providerExecuted }),
    },
  ];
}
