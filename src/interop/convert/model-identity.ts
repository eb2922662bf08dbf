import { type Message, UNKNOWN_NAME } from "../../core/format/message.ts";
import type { RequestOptions } from "./conversion-options.ts";

/** Identifies a model: messages with the same identity can exchange thinking and signatures. */
export interface ModelIdentity {
  /** The APIs that can carry this model's thinking; undefined for any. */
  readonly apis: ReadonlySet<string> | undefined;
  readonly provider: string;
  readonly model: string;
}

/** A model's name with the date of its snapshot. */
const SNAPSHOT = /^(.+?)-(?:\d{8}|\d{4}-\d\d-\d\d)$/;

/**
 * Finds the model of a request.
 *
 * @param apis - The APIs of the request.
 * @param provider - Provider if neither the options nor the conversation name one.
 * @returns Undefined if neither the options nor the last answer tell; then no thinking can be sent.
 */
export function findTarget(
  messages: readonly Message[],
  apis: ReadonlySet<string> | undefined,
  provider: string | undefined,
  options: RequestOptions,
): ModelIdentity | undefined {
  const all = messages.filter((message) => message.role === "assistant");
  // An answer without a provider does not tell whom the request is for.
  const named = all.filter((answer) => answer.provider !== UNKNOWN_NAME);
  const answers = named.length > 0 ? named : all;
  const speaks = (api: string) => apis === undefined || apis.has(api);
  const last = answers.findLast((answer) => speaks(answer.api));
  const target = { apis, provider: options.provider ?? last?.provider ?? provider ?? UNKNOWN_NAME };
  if (options.model !== undefined) return { ...target, model: options.model };
  return last !== undefined && last === answers.at(-1) ? { ...target, model: last.model } : undefined;
}

/** Tells whether the model of the request wrote a message. */
export function isWrittenBy(target: ModelIdentity | undefined, message: Message): boolean {
  if (target === undefined || message.role !== "assistant") return false;
  if (target.apis !== undefined && !target.apis.has(message.api)) return false;
  if (message.provider !== target.provider) return false;
  return [message.model, message.responseModel].some(
    (model) => model !== undefined && isSame(model, target.model),
  );
}

/** Tells whether two names mean one model: a name with the date of its snapshot answers for the name without. */
function isSame(a: string, b: string): boolean {
  return a === b || SNAPSHOT.exec(a)?.[1] === b || SNAPSHOT.exec(b)?.[1] === a;
}
