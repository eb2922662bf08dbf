import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open } from "../open-union.ts";

/**
 * The fields of a stored message, typed as LangChain types them.
 *
 * `content` may also be a list of blocks, and an answer has `tool_calls`, although LangChain's type does not say so.
 */
export interface LangChainMessageData {
  content: string;
  role: string | undefined;
  name: string | undefined;
  tool_call_id: string | undefined;
  id?: string;
}

/** A message as LangChain stores it: what `mapStoredMessagesToChatMessages` takes. */
export interface LangChainMessage {
  type: string;
  data: LangChainMessageData;
}

/** What `toLangChain` makes. */
export interface LangChainRequest {
  /** Instructions first, as a message of type `system`. */
  messages: LangChainMessage[];
  issues: ConversionIssue[];
}

/** A message of LangChain: an instance, its stored form, what a checkpointer serialises, or fields with a type or role. */
export type LangChainMessageLike =
  | Open<{ readonly type: string }>
  | Open<{ readonly role: string; readonly content: unknown }>;
