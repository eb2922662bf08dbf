import { kindOf } from "../model/entry-kind.ts";
import { fieldsOf, textOf } from "../model/fields.ts";
import { count, counted } from "../model/format.ts";
import type { Place } from "../model/navigation.ts";
import type { PathView } from "../model/path-items.ts";
import { NONE, type SessionModel } from "../model/session-model.ts";
import { ContextSize } from "./context-size.tsx";
import { DownIcon, UpIcon } from "./icons.tsx";
import { usePage } from "./use-page.ts";

interface PathBarProps {
  readonly path: PathView;
  readonly place: Place;
  /** Goes to the next failure, or back to the one before. */
  readonly onFailure: (direction: 1 | -1) => void;
}

/** What path is shown, and what the model has of it. */
export function PathBar({ path, place, onFailure }: PathBarProps) {
  const { session, go } = usePage();
  const { items, modelItems, repairs, model, thinkingLevel, contextSize, end } = path;
  const leftOut = items.filter(({ state }) => state === "left-out").length;
  const isModel = place.view === "model";
  const messages = modelItems.reduce((sum, one) => sum + one.messages.length, 0);
  const facts = isModel
    ? [counted(messages, "message", "messages")]
    : [counted(items.length, "entry", "entries"), leftOut > 0 ? `${count(leftOut)} compacted` : ""];
  const about = fieldsOf(fieldsOf(session.entries[place.asked])["message"]);
  // The path before an answer names the model of the answer before it.
  const modelId = textOf(about["model"]) || (model?.modelId ?? "");
  const settings = [modelId, `thinking ${thinkingLevel}`];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="path-bar" aria-label="This path" tabIndex={0}>
      <span class="path-facts">
        <strong>{titleOf(session, place)}</strong>
        {[...facts, ...settings].filter(Boolean).map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
        <ContextSize size={contextSize} />
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
      {place.asked !== NONE && (
        <button type="button" class="link-button" title="Back (m)" onClick={() => go({ go: "whole" })}>
          Back to the whole path
        </button>
      )}
      {place.asked === NONE && end !== session.leaf && (
        <button type="button" class="link-button" onClick={() => go({ go: "end", ordinal: session.leaf })}>
          Go to the leaf
        </button>
      )}
      <FailureButtons at={place.focus} onFailure={onFailure} />
    </section>
  );
}

/** Says what is looked at: a path, or what the model sees, and where. */
function titleOf({ entries, leaf }: SessionModel, { asked, end, view }: Place): string {
  const about = entries[asked];
  if (about !== undefined) {
    const { word } = kindOf(about);
    return word === "assistant"
      ? `What the model saw before answer ${about.id}`
      : `What the model saw with ${word} ${about.id}`;
  }
  const where = end === leaf ? "the leaf" : (entries[end]?.id ?? "the start");
  return view === "model" ? `What the model sees at ${where}` : `Path to ${where}`;
}

/** How many failures there are, which of them is looked at, and the ways to the others. */
function FailureButtons({ at, onFailure }: { at: number; onFailure: PathBarProps["onFailure"] }) {
  const { failures } = usePage().session;
  if (failures.length === 0) return <span class="failures">no failures</span>;
  const current = failures.indexOf(at);
  const place = current === -1 ? "" : `${count(current + 1)} of `;
  return (
    <span class="failures is-some">
      <span role="status">
        {place}
        {count(failures.length)} failed
      </span>
      <button
        type="button"
        class="icon-button"
        aria-label="Previous failure"
        title="Previous failure (F)"
        onClick={() => onFailure(-1)}
      >
        <UpIcon />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label="Next failure"
        title="Next failure (f)"
        onClick={() => onFailure(1)}
      >
        <DownIcon />
      </button>
    </span>
  );
}
