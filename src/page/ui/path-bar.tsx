import { count, counted, tokens } from "../model/format.ts";
import type { Place } from "../model/navigation.ts";
import type { PathView } from "../model/path-items.ts";
import { usePage } from "./use-page.ts";

/** What path is shown, and what the model has of it. */
export function PathBar({ path, place }: { path: PathView; place: Place }) {
  const { session, go } = usePage();
  const { items, modelItems, repairs, model, thinkingLevel, contextTokens, end } = path;
  const leftOut = items.filter(({ state }) => state === "left-out").length;
  const isModel = place.view === "model";
  const messages = modelItems.reduce((sum, one) => sum + one.messages.length, 0);
  const facts = isModel
    ? [counted(messages, "message", "messages"), `about ${tokens(contextTokens)} tokens`]
    : [
        counted(items.length, "entry", "entries"),
        leftOut > 0 ? `${count(leftOut)} left out by compaction` : "",
      ];
  const settings = [model === null ? "" : model.modelId, `thinking ${thinkingLevel}`];
  return (
    <div class="path-bar">
      <span class="path-facts">
        {end === session.leaf ? "Path to the leaf" : `Path to ${session.entries[end]?.id ?? "the start"}`}
        {[...facts, ...settings].filter(Boolean).map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </span>
      {isModel && repairs.length > 0 && (
        <span
          class="chip is-edited"
          title={repairs.map(({ kind, toolCallId }) => `${kind}: ${toolCallId}`).join("\n")}
        >
          {counted(
            repairs.length,
            "tool call or result lacks its partner",
            "tool calls or results lack their partners",
          )}
        </span>
      )}
      {end !== session.leaf && (
        <button type="button" class="link-button" onClick={() => go({ go: "end", ordinal: session.leaf })}>
          Go to the leaf
        </button>
      )}
    </div>
  );
}
