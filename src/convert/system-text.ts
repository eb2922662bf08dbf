import { textsOf } from "../context/content-text.ts";
import { foldSystemMessages } from "../context/system-message.ts";
import type { SystemMessage } from "../schema/message.ts";

/** Returns the text of system messages: their contents, then the sections in force. */
export function systemText(messages: readonly SystemMessage[]): string {
  const folded = foldSystemMessages(messages, 0);
  const parts = [...textsOf(folded?.content), ...Object.values(folded?.sections ?? {})];
  return parts.filter((part) => typeof part === "string" && part !== "").join("\n\n");
}
