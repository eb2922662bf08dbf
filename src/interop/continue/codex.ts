import { toArray, toRecord } from "../../core/context/entry-fields.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import type { OpenAIResponsesItem } from "../convert/openai-responses/openai-responses-content.ts";
import { planOpenAIResponses } from "../convert/openai-responses/to-openai-responses.ts";
import { CONTINUED_SESSION_TYPE, type ContinuedSession } from "../import/continued-session.ts";
import { type ExportedMessage, type ExportStage, getMessageTime, listStages } from "./export-stages.ts";
import type { ExportIssue } from "./exported-session.ts";
import type { SessionWriter, WriteTarget } from "./session-writer.ts";

/** Version of Codex whose file format is written. */
const CODEX_VERSION = "0.171.0";

const NO_FAILURES = "Codex results have no error flag; only their text indicates that the call failed.";

/**
 * Writes a session as a Codex rollout.
 *
 * A compaction is converted to a Codex compaction: the history that it kept replaces everything before it in the file.
 */
export const writeCodex: SessionWriter = (session, target) => {
  const rollout = new Rollout(target);
  const issues = listStages(session, target).flatMap((stage) => {
    const { written, issues } = writeItems(stage, target);
    rollout.addStage(stage, written);
    return issues;
  });
  const bytes = rollout.finish({ sessionId: session.getSessionId(), leafId: target.leafId });
  return {
    files: [{ path: makeRolloutPath(target), bytes }],
    commands: [["codex", "resume", target.id]],
    issues,
  };
};

/** Returns the path of a rollout. Codex finds a session by its file name, in any day's folder. */
function makeRolloutPath({ id, now }: WriteTarget): string {
  const [day = "", time = ""] = new Date(now).toISOString().slice(0, 19).split("T");
  return `sessions/${day.replaceAll("-", "/")}/rollout-${day}T${time.replaceAll(":", "-")}-${id}.jsonl`;
}

/** An item in a rollout. */
interface RolloutItem {
  readonly item: object;
  /** The item's text, as shown in lists and on screen; undefined if it has none. */
  readonly shown: { readonly type: "user_message" | "agent_message"; readonly message: string } | undefined;
  readonly source: ExportedMessage | undefined;
  readonly time: string;
  /** Whether a compaction kept the item. */
  readonly isKept: boolean;
}

function writeItems(
  { sources, keptCount }: ExportStage,
  { now }: WriteTarget,
): { readonly written: RolloutItem[]; readonly issues: readonly ExportIssue[] } {
  const messages = sources.map(({ message }) => message);
  const { plan, written } = planOpenAIResponses(messages, { dropThinking: true }, { isPortable: true });
  const results = plan.items.flatMap((item) => (item.kind === "answer" ? item.results : []));
  for (const { index, message, isMade } of results)
    if (message.isError && !isMade) plan.issues.report("FLAG_DROPPED", index, NO_FAILURES);
  plan.issues.locate((index) => sources[index]?.entry.id);
  const items = written.flatMap(({ index, items }) => {
    const source = sources[index];
    const facts = { source, time: getMessageTime(source, now), isKept: index < keptCount };
    return items.map((item) => ({ item: toRolloutItem(item), shown: findShown(item), ...facts }));
  });
  return { written: items, issues: plan.issues.list() };
}

/** Adds the `type` field to a message, and converts string content to parts, because Codex drops string content. */
function toRolloutItem(item: OpenAIResponsesItem): object {
  if (!("role" in item)) return item;
  const { role, content } = item;
  const type = role === "assistant" ? "output_text" : "input_text";
  return {
    ...item,
    type: "message",
    content: typeof content === "string" ? [{ type, text: content }] : content,
  };
}

function findShown(item: OpenAIResponsesItem): RolloutItem["shown"] {
  if (!("role" in item)) return undefined;
  const { role, content } = item;
  const texts =
    typeof content === "string" ? [content] : toArray(content).map((part) => toRecord(part)["text"]);
  const message = texts.filter((text) => typeof text === "string").join("\n");
  return { type: role === "assistant" ? "agent_message" : "user_message", message };
}

/** Lines of a rollout. */
class Rollout {
  readonly #lines: string[] = [];
  readonly #endTime: string;
  /** Ids of the entries that were written. */
  readonly #written = new Set<string>();
  /** Text shown in lists if the session has no prompt. */
  #firstText: string | undefined;
  #hasPrompt = false;

  constructor({ id, cwd, now }: WriteTarget) {
    const timestamp = new Date(now).toISOString();
    this.#endTime = timestamp;
    this.#add(timestamp, "session_meta", {
      ...{ id, timestamp, cwd, originator: CONTINUED_SESSION_TYPE },
      ...{ cli_version: CODEX_VERSION, source: "cli" },
    });
  }

  addStage({ compaction }: ExportStage, written: readonly RolloutItem[]): void {
    const kept = written.filter(({ isKept }) => isKept);
    for (const one of kept) this.#show(one);
    const [summary] = kept;
    if (compaction !== undefined && summary !== undefined) {
      const history = kept.map(({ item }) => item);
      const payload = { message: summary.shown?.message ?? "", replacement_history: history };
      this.#add(summary.time, "compacted", payload);
    }
    for (const one of written) {
      if (one.isKept) continue;
      this.#add(one.time, "response_item", one.item);
      this.#show(one);
    }
    for (const { source } of written) if (source !== undefined) this.#written.add(source.entry.id);
  }

  finish(continued: ContinuedSession): Uint8Array {
    if (!this.#hasPrompt) this.#addEvent(this.#endTime, "user_message", this.#firstText ?? "(no text)");
    this.#add(this.#endTime, CONTINUED_SESSION_TYPE, { ...continued });
    return new TextEncoder().encode(this.#lines.join(""));
  }

  /** Adds an event with a message's text, for display in lists and on screen. Summaries and the like get none. */
  #show({ shown, source, time }: RolloutItem): void {
    if (shown === undefined) return;
    const isPrompt = shown.type === "user_message";
    if (isPrompt) this.#firstText ??= shown.message;
    if (source?.entry.type !== "message" || this.#written.has(source.entry.id)) return;
    if (isPrompt && source.message.role !== "user") return;
    if (isPrompt) this.#hasPrompt = true;
    this.#addEvent(time, shown.type, shown.message);
  }

  #addEvent(time: string, type: "user_message" | "agent_message", message: string): void {
    const media = type === "user_message" ? { images: [], local_images: [], text_elements: [] } : {};
    this.#add(time, "event_msg", { type, message, ...media });
  }

  #add(timestamp: string, type: string, payload: object): void {
    this.#lines.push(`${encodeRecord({ timestamp, type, payload })}\n`);
  }
}
