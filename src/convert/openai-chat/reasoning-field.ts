/** Fields in which servers return reasoning; the field's name becomes the signature. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;

/** Name of a field in which servers return reasoning. */
export type ReasoningField = (typeof REASONING_FIELDS)[number];

/** Returns the field that a signature names. */
export function reasoningField(signature: string | undefined): ReasoningField | undefined {
  return REASONING_FIELDS.find((field) => field === signature);
}
