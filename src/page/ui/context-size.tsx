import type { ContextUsageEstimate } from "../../core.ts";
import { contextSizeText } from "../../view/context-size.ts";
import { tokens } from "../model/format.ts";

/** The size of the context at the end of the path, and how it is known; short where all is about the context. */
export function ContextSize({ size, isShort }: { size: ContextUsageEstimate; isShort: boolean }) {
  const { tokens: all, usageTokens, trailingTokens } = size;
  const isExact = usageTokens > 0 && trailingTokens === 0;
  return (
    <span title={`Context: ${contextSizeText(size)}`}>
      {isShort ? "" : "context "}
      {isExact ? "" : "about "}
      {tokens(all)} tokens
    </span>
  );
}
