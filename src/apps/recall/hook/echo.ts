/** The tag that opens an answer of ours; some agents escape what hooks write. */
const OPEN = /(?:<hook_context>)?(?:<|&lt;)past-sessions(?:>|&gt;)/;

/** An answer of ours as it is in a transcript, with the line that follows its frame. */
const ECHO = new RegExp(
  `${OPEN.source}[\\s\\S]*?(?:(?:<|&lt;)/past-sessions(?:>|&gt;)(?:\\n[^\\n]*)?(?:</hook_context>)?|$)`,
  "g",
);

/** Returns whether a text holds an answer that was pushed to an agent. */
export function holdsEcho(text: string): boolean {
  return OPEN.test(text);
}

/** Removes from a text what was pushed to an agent: it is not what a person or a tool said. */
export function withoutEcho(text: string): string {
  return text.replace(ECHO, "").trim();
}
