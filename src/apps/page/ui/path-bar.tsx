import { useEffect, useState } from "preact/hooks";
import { getMessageFields } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import type { ToolPairRepair } from "../../../core/context/tool-pairs.ts";
import { formatCount, formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { formatDuration } from "../../../core/facts/times.ts";
import { findAnswer } from "../../../core/facts/tool-calls.ts";
import { formatCost, type Spent } from "../../../core/facts/usage-tally.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type { AnySessionEntry } from "../../../core.ts";
import { getEntryTitle } from "../../text/entry-kind.ts";
import {
  formatContextSize,
  formatUsage,
  getSizeBefore,
  type ContextSize as Size,
} from "../../text/usage-text.ts";
import { capitalize, formatTokens } from "../model/format.ts";
import { type ContextSide, getSide, getSubject, type Position } from "../model/navigation.ts";
import type { PathView } from "../model/path-items.ts";
import { formatBranchName, getKindAt, getPathTo, type SessionModel } from "../model/session-model.ts";
import { findStretches } from "../model/turns.ts";
import { LinkButton, Segments } from "./controls.tsx";
import { DownIcon, IconButton, UpIcon } from "./icons.tsx";
import { usePage } from "./page-context.ts";

interface PathBarProps {
  readonly path: PathView;
  readonly position: Position;
  /** Goes to the next failure, or to the previous one. */
  readonly onFailure: (direction: 1 | -1) => void;
}

/** Bar that describes the shown path and the model's part of it, or the context of an entry and its cost. */
export function PathBar({ path, position, onFailure }: PathBarProps) {
  const { session, go } = usePage();
  const { asked, view } = position;
  const isAsked = asked !== NONE;
  const classes = ["path-bar", isAsked ? "is-asked" : "", view === "model" ? "is-model" : ""];
  return (
    <section
      class={joinNonempty(" ", ...classes)}
      aria-label="This branch"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      <strong title={isAsked ? getName(session, asked) : undefined}>{makeTitle(session, position)}</strong>
      {isAsked && <Sides position={position} />}
      <PathFacts path={path} position={position} />
      {isAsked && (
        <LinkButton title="Back to the conversation (m)" onClick={() => go({ go: "whole" })}>
          Back
        </LinkButton>
      )}
      {!isAsked && <MarkedContext position={position} />}
      {!isAsked && path.end !== session.leaf && (
        <LinkButton
          title="Back to where the session continues (L)"
          onClick={() => go({ go: "end", ordinal: session.leaf })}
        >
          Back to current
        </LinkButton>
      )}
      <FailureButtons at={getSubject(position)} onFailure={onFailure} />
    </section>
  );
}

/** Returns the title of the view: a path, or the model's context, and its end. */
function makeTitle(session: SessionModel, { asked, end, view }: Position): string {
  if (asked !== NONE) return "The model saw";
  if (view !== "model") return capitalize(formatBranchName(session, end));
  if (end === session.leaf) return "What the model sees now";
  return `What the model sees ${end === NONE ? "first" : `at entry ${session.tree.idAt(end)}`}`;
}

/** Link to the context of the focused entry while another entry's context is shown. */
function MarkedContext({ position: { view, focus, end } }: Pick<PathBarProps, "position">) {
  const { session, go } = usePage();
  const marked = session.entryAt(focus);
  if (view !== "model" || marked === undefined || focus === end) return null;
  return (
    <LinkButton
      class="marked-context"
      title={`What the model saw at ${getName(session, focus)} (m)`}
      onClick={() => go({ go: "context", ordinal: focus })}
    >
      See it at entry {marked.id} instead
    </LinkButton>
  );
}

/** The two possible ends of an answer's or result's context: before the model wrote the answer, and with its outcome. */
function Sides({ position }: { position: Position }) {
  const { session, go } = usePage();
  const { asked } = position;
  const answer = findAnswer(session, asked);
  if (answer === undefined) return <span>with this entry</span>;
  const choices: readonly (readonly [ContextSide, string, string])[] =
    answer === asked
      ? [
          ["before", "before the answer", "What the model saw when it wrote this answer"],
          ["with", "with it", "The context with this answer at its end"],
        ]
      : [
          ["before", "before the call", "What the model saw when it made this call"],
          ["with", "with the result", "The context with this result at its end"],
        ];
  return (
    <Segments
      label="Where the context ends"
      choices={choices}
      chosen={getSide(position)}
      onChoose={(side) => go({ go: "context", ordinal: asked, side })}
    />
  );
}

/** Facts about the path or the context, the most important first; facts that do not fit are hidden, not truncated. */
function PathFacts({ path, position }: Pick<PathBarProps, "path" | "position">) {
  const { session, areRecordsShown } = usePage();
  const { model, thinkingLevel, contextSize } = path;
  const answerAt = findAnswer(session, position.asked) ?? NONE;
  const answer = session.entryAt(answerAt);
  const used = session.facts[answerAt]?.used;
  const size = contextSize && getSide(position) === "before" ? getSizeBefore(used, contextSize) : contextSize;
  // The path before an answer names the model of the previous answer.
  const modelId = toText(getMessageFields(answer)["model"]) || (model?.modelId ?? "");
  const settings = [modelId, thinkingLevel === "off" ? "" : `thinking ${thinkingLevel}`];
  const isModel = position.view === "model";
  const { extent, summarized, hidden } = formatExtent(path, isModel, areRecordsShown);
  const rest = [summarized, ...settings, hidden, getName(session, position.asked)].filter(Boolean);
  return (
    <span class="path-facts" title={rest.join(" · ")}>
      <span>{extent}</span>
      {size !== undefined && <ContextSize size={size} isShort={isModel} />}
      {answer !== undefined && <AnswerCost answer={answer} used={used} />}
      {isModel && <Repairs path={path} />}
      {rest.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
    </span>
  );
}

/** Formats the number of the context's messages, or of the path's shown, summarized, and hidden entries. */
function formatExtent(path: PathView, isModel: boolean, areRecordsShown: boolean) {
  if (isModel)
    return { extent: formatCounted(path.messageCount, "message", "messages"), summarized: "", hidden: "" };
  const { compacted, size } = path;
  const { length: shown } = areRecordsShown ? path.items : path.shownItems;
  return {
    extent: formatCounted(shown, "entry", "entries"),
    summarized: compacted === 0 ? "" : `${formatCount(compacted)} summarized`,
    hidden: size === shown ? "" : `${formatCounted(size - shown, "record", "records")} hidden`,
  };
}

/** Size of the context at the end of the path, and whether it is estimated; short if the whole bar is about the context. */
function ContextSize({ size, isShort }: { size: Size; isShort: boolean }) {
  const { tokens: all, usageTokens, trailingTokens } = size;
  const isExact = usageTokens > 0 && trailingTokens === 0;
  return (
    <span title={`Context: ${formatContextSize(size)}`}>
      {isShort ? "" : "context "}
      {isExact ? "" : "about "}
      {formatTokens(all)} tokens
    </span>
  );
}

/** Cost of the model's answer: its model call, including all tool calls in it. */
function AnswerCost({ answer, used }: { answer: AnySessionEntry; used: Readonly<Spent> | undefined }) {
  if (used === undefined) return null;
  const { tokens: taken } = formatUsage(answer);
  const cost = used.cost === null && used.estimated === null ? "" : formatCost(used);
  return (
    <span class="answer-cost" title={`Answer ${answer.id}: ${joinNonempty(", ", cost, taken)}`}>
      answer {cost === "" ? `took ${taken}` : cost}
    </span>
  );
}

/** Descriptions of faulty calls and results. */
const REPAIR_WORDS: { readonly [kind in ToolPairRepair["kind"]]: string } = {
  resultMade: "call without a result",
  resultMoved: "result that does not follow its call",
  resultQuoted: "result that does not follow its call",
  resultDropped: "result without a call",
  callDropped: "call without an id of its own",
  callRenamed: "call whose id is used twice",
  messageDropped: "message without a valid call",
};

/**
 * Repairs that the context needs before a provider accepts it. They are found after the context is drawn, so that it appears
 * sooner; until then, the previous ones are shown.
 */
function Repairs({ path }: Pick<PathBarProps, "path">) {
  const [repairs, setRepairs] = useState(path.knownRepairs);
  useEffect(() => {
    const timer = setTimeout(() => setRepairs(path.repairs));
    return () => clearTimeout(timer);
  }, [path]);
  if (repairs.length === 0) return null;
  const which = repairs.map(({ kind, toolCallId }) => `${REPAIR_WORDS[kind]}: ${toolCallId}`).join("\n");
  const missing = repairs.filter(({ kind }) => kind === "resultMade").length;
  const others = repairs.length - missing;
  return (
    <span class="is-unpaired" title={`Fixed before the messages are sent to a model:\n${which}`}>
      {joinNonempty(
        ", ",
        missing === 0 ? "" : `${formatCounted(missing, "tool call", "tool calls")} without a result`,
        others === 0 ? "" : `${formatCounted(others, "misplaced tool message", "misplaced tool messages")}`,
      )}
    </span>
  );
}

/** Formats the kind and id of an entry; empty if the entry does not exist. */
function getName(session: SessionModel, ordinal: number): string {
  const entry = session.entryAt(ordinal);
  return entry === undefined ? "" : `${getKindAt(session, ordinal).word} ${entry.id}`;
}

/** Number of failures, the position of the focused failure, and buttons that go to the others. */
function FailureButtons({ at, onFailure }: { at: number; onFailure: PathBarProps["onFailure"] }) {
  const { failures, isWhole } = usePage().session;
  if (!isWhole) return null;
  if (failures.length === 0) return <span class="failures">no failures</span>;
  const current = failures.indexOf(at);
  const front = current === -1 ? "" : `${formatCount(current + 1)} of `;
  const short =
    current === -1
      ? formatCount(failures.length)
      : `${formatCount(current + 1)}/${formatCount(failures.length)}`;
  return (
    <span class="failures is-some">
      <span role="status">
        <button type="button" data-short={short} title="Next failure (f)" onClick={() => onFailure(1)}>
          {front}
          {formatCount(failures.length)} failed
        </button>
      </span>
      <IconButton icon={UpIcon} label="Previous failure" shortcut="F" onClick={() => onFailure(-1)} />
      <IconButton icon={DownIcon} label="Next failure" shortcut="f" onClick={() => onFailure(1)} />
    </span>
  );
}

const WIDTH = 1000;
const HEIGHT = 10;

/** Minimum width of a stretch, so that a pointer can hit it. */
const MIN_WIDTH = 2;

interface TimeLineProps {
  readonly path: PathView;
  /** The focused entry. */
  readonly focus: number;
}

/** Thin line that shows how time on the path was split between the model and tools; each stretch links to its entry. */
export function TimeLine({ path, focus }: TimeLineProps) {
  const { session, go } = usePage();
  const stretches = findStretches(session, getPathTo(session, path.end));
  // Only the stretch under the pointer gets a title, because a title needs the body of its entry.
  const [hovered, setHovered] = useState(NONE);
  if (stretches.length < 2) return null;
  const sum = stretches.reduce((all, { milliseconds }) => all + milliseconds, 0);
  const scale = WIDTH - MIN_WIDTH * stretches.length;
  let x = 0;
  return (
    <svg
      class="time-line no-print"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Where the time went: ${formatDuration(sum)} of models and tools`}
    >
      {stretches.map(({ ordinal, kind, milliseconds }) => {
        const width = MIN_WIDTH + (milliseconds / sum) * scale;
        const from = x;
        x += width;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: a short cut; keys reach the entries themselves
          <rect
            key={ordinal}
            class={`stretch is-${kind} ${ordinal === focus ? "is-looked-at" : ""}`}
            x={from}
            y={0}
            width={Math.max(1, width - 0.6)}
            height={HEIGHT}
            onPointerEnter={() => setHovered(ordinal)}
            onClick={() => go({ go: "entry", ordinal })}
          >
            {ordinal === hovered && (
              <title>{`${formatDuration(milliseconds)}: ${getKindAt(session, ordinal).word} ${getEntryTitle(session, ordinal)}`}</title>
            )}
          </rect>
        );
      })}
    </svg>
  );
}
