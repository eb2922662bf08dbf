import { createHash } from "node:crypto";

/** A scripted answer of a model, for any protocol. */
export interface ScriptedAnswer {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Starts the answer with a compaction of everything before it, where the protocol has that. */
  readonly compacts?: boolean;
  /** Streams this many events and then nothing until it is released, or the client disconnects. */
  readonly hangsAfter?: number;
  /** Ends the answer because the output limit is reached. */
  readonly isCut?: boolean;
}

/** A tool call of a model. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: object;
}

/** An answer in a provider's format: whole, and as the events of a stream. */
export interface SpokenAnswer {
  readonly body: object;
  /** Name, if the protocol has names, and data of each event. */
  readonly events: readonly { readonly name?: string; readonly data: object | string }[];
  /** Content that the provider remembers. */
  readonly issued: readonly object[];
}

/** Returns ids that are never repeated: `msg_1`, `toolu_2`, … */
export type NextId = (prefix: string) => string;

/** Signature that this provider puts on thinking, and by which it recognizes its own. */
export function makeSignature(thinking: string): string {
  return createHash("sha256").update(`thought: ${thinking}`).digest("base64");
}

/** Splits a text as in a stream. */
export function pieces(text: string): string[] {
  return text.match(/.{1,7}/gsu) ?? [];
}

/** Number of tokens in an answer: enough that usage is never zero. */
export const USAGE = { input: 21, cached: 4, output: 9, reasoning: 2 } as const;
