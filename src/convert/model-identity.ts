import type { Message } from "../schema/message.ts";
import type { RequestOptions } from "./conversion-options.ts";

/** Who answers: the same three words in two messages mean that their thinking and signatures are interchangeable. */
export interface ModelIdentity {
  /** The APIs over which thinking of this model can be sent; undefined if any will do. */
  readonly apis: ReadonlySet<string> | undefined;
  readonly provider: string;
  readonly model: string;
}

/** A model's name with the date of its snapshot. */
const SNAPSHOT = /^(.+?)-(?:\d{8}|\d{4}-\d\d-\d\d)$/;

/**
 * Finds out which model a request is for.
 *
 * @param apis - The APIs that the request can be spoken over.
 * @param provider - Who is meant if neither the options nor the conversation name one.
 * @returns Undefined if neither the options nor the last answer tell; then no thinking can be sent.
 */
export function findTarget(
  messages: readonly Message[],
  apis: ReadonlySet<string> | undefined,
  provider: string | undefined,
  options: RequestOptions,
): ModelIdentity | undefined {
  const all = messages.filter((message) => message.role === "assistant");
  // An answer of nobody in particular does not say who is asked.
  const named = all.filter((answer) => answer.provider !== "unknown");
  const answers = named.length > 0 ? named : all;
  const speaks = (api: string) => apis === undefined || apis.has(api);
  const last = answers.findLast((answer) => speaks(answer.api));
  const target = { apis, provider: options.provider ?? last?.provider ?? provider ?? "unknown" };
  if (options.model !== undefined) return { ...target, model: options.model };
  return last !== undefined && last === answers.at(-1) ? { ...target, model: last.model } : undefined;
}

/** Tells whether a message was written by the model that is asked now. */
export function isWrittenBy(target: ModelIdentity | undefined, message: Message): boolean {
  if (target === undefined || message.role !== "assistant") return false;
  if (target.apis !== undefined && !target.apis.has(message.api)) return false;
  if (message.provider !== target.provider) return false;
  return [message.model, message.responseModel].some(
    (model) => model !== undefined && isSame(model, target.model),
  );
}

/** A name and the same name with a date are one model: who asks for the first is answered by the second. */
function isSame(a: string, b: string): boolean {
  return a === b || SNAPSHOT.exec(a)?.[1] === b || SNAPSHOT.exec(b)?.[1] === a;
}
