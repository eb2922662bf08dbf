import { createHash } from "node:crypto";

/** What a model is to answer, whatever the protocol. */
export interface ScriptedAnswer {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Begins the answer with a compaction of all before it, where the protocol has that. */
  readonly compacts?: boolean;
  /** Streams so many events and then nothing until it is released, or the client goes away. */
  readonly hangsAfter?: number;
  /** Ends the answer because no room is left. */
  readonly isCut?: boolean;
}

/** A tool that a model asks for. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: object;
}

/** An answer in a provider's words: whole, and as the events of a stream. */
export interface SpokenAnswer {
  readonly body: object;
  /** Name, if the protocol has names, and data of each event. */
  readonly events: readonly { readonly name?: string; readonly data: object | string }[];
  /** What the provider remembers of it. */
  readonly issued: readonly object[];
}

/** Makes ids that are not used twice: `msg_1`, `toolu_2`, … */
export type NextId = (prefix: string) => string;

/** The signature that this provider puts on thinking, and by which it knows its own. */
export function makeSignature(thinking: string): string {
  return createHash("sha256").update(`thought: ${thinking}`).digest("base64");
}

/** Cuts a text as it comes in a stream. */
export function pieces(text: string): string[] {
  return text.match(/.{1,7}/gsu) ?? [];
}

/** Tokens of an answer: enough that usage is never zero. */
export const USAGE = { input: 21, cached: 4, output: 9, reasoning: 2 } as const;
