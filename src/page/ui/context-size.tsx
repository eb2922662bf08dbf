import type { ContextUsageEstimate } from "../../core.ts";
import { count } from "../../view/words.ts";
import { tokens } from "../model/format.ts";

/** The size of the context at the end of the path, and how it is known; short where all is about the context. */
export function ContextSize({ size, isShort }: { size: ContextUsageEstimate; isShort: boolean }) {
  const { tokens: all, usageTokens, trailingTokens } = size;
  const isCounted = usageTokens > 0;
  const how = isCounted
    ? `${count(usageTokens)} counted by the model at its last answer, about ${count(trailingTokens)} estimated since`
    : "Estimated: no model has counted this context yet";
  return (
    <span title={`Context: ${count(all)} tokens. ${how}`}>
      {isShort ? "" : "context "}
      {isCounted && trailingTokens === 0 ? "" : "about "}
      {tokens(all)} tokens
    </span>
  );
}
