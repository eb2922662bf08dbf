import { subagentLink } from "../entry-bodies.ts";
import { THREAD_START, type ThreadState } from "../entry-thread.ts";
import type { ImportedSession } from "../imported-session.ts";
import { SessionBuilder } from "../session-builder.ts";
import { issueAt } from "../source-text.ts";
import { member, textOf } from "../source-values.ts";
import { collectOutcomes } from "./response-items.ts";
import { type CodexRolloutText, copiedRecords, type Rollout, readRollout } from "./rollout.ts";
import { RolloutReader } from "./rollout-reader.ts";
import type { SessionContext } from "./thread-writer.ts";

/** A thread of Codex: its files, and those that they continue. */
export interface CodexInput {
  /** All files of the thread, in any order. */
  readonly rollouts: readonly CodexRolloutText[];
  /** Files of other threads: those that these files name as the start of their history, and the parent's. */
  readonly others?: readonly CodexRolloutText[];
  /** Name of the thread, from the program's own list. */
  readonly title?: string;
  /** ISO 8601. */
  readonly importedAt: string;
}

/**
 * Converts a thread of Codex to a session.
 *
 * A rollback keeps the old turns as a branch, whether the program records it or begins another file. If a fork does not
 * contain the history that it shares with its parent, that history comes from the parent's file.
 *
 * @returns Undefined if the files contain no conversation.
 * @remarks Cost: O(records). Source: docs/import-records.md#codex
 */
export function importCodex(input: CodexInput): ImportedSession | undefined {
  const own = input.rollouts.map(readRollout).sort(byBeginning);
  const [first] = own;
  if (first === undefined || !own.some(hasConversation)) return undefined;
  return new ThreadImport(input, own, first).run();
}

function byBeginning(one: Rollout, other: Rollout): number {
  const time = ({ meta, text }: Rollout) => `${textOf(meta["timestamp"]) ?? ""} ${text.path ?? ""}`;
  return time(one) < time(other) ? -1 : 1;
}

const SPOKEN: ReadonlySet<unknown> = new Set(["response_item", "compacted"]);

function hasConversation({ records }: Rollout): boolean {
  return records.some(({ value }) => {
    const { type } = value;
    return SPOKEN.has(type) || member(value, "payload")["type"] === "user_message";
  });
}

class ThreadImport {
  readonly #own: readonly Rollout[];
  readonly #others: readonly Rollout[];
  readonly #builder: SessionBuilder;
  readonly #context: SessionContext;
  readonly #readers = new Map<Rollout, RolloutReader>();
  readonly #open = new Set<Rollout>();

  constructor(input: CodexInput, own: readonly Rollout[], first: Rollout) {
    this.#own = own;
    this.#others = (input.others ?? []).map(readRollout);
    const { meta, text } = first;
    const id = first.threadId ?? first.rolloutId ?? "unknown";
    const spawn = member(member(member(meta, "source"), "subagent"), "thread_spawn");
    const builder = new SessionBuilder(input, {
      source: "codex",
      sourceId: id,
      sourcePath: text.path,
      sourceVersion: textOf(meta["cli_version"]),
      folders: [meta["cwd"], ...first.records.map(({ value }) => member(value, "payload")["cwd"])],
      startedAt: textOf(meta["timestamp"]) ?? first.records[0]?.value["timestamp"],
      startedBy: textOf(meta["parent_thread_id"]) ?? textOf(spawn["parent_thread_id"]),
      forkOf: textOf(meta["forked_from_id"]),
    });
    this.#builder = builder;
    this.#context = {
      builder,
      provider: textOf(meta["model_provider"]),
      outcomes: collectOutcomes([...own, ...this.#others].flatMap(({ records }) => records)),
      calls: new Map(),
    };
    if (input.title !== undefined && input.title !== "")
      builder.addName(`codex name ${input.title}`, input.title);
    this.#linkParent(first);
  }

  run(): ImportedSession {
    const builder = this.#builder;
    let state: ThreadState = THREAD_START;
    for (const rollout of this.#own) {
      builder.issues.push(...rollout.text.issues);
      builder.drop("repeated", rollout.repeated);
      builder.counts.records += rollout.repeated;
      state = this.#read(rollout);
    }
    builder.markLeaf(state.tip);
    return builder.finish();
  }

  #read(rollout: Rollout, end?: number): ThreadState {
    this.#open.add(rollout);
    let reader = this.#readers.get(rollout);
    if (reader === undefined) {
      const parentId = textOf(rollout.meta["forked_from_id"]);
      const parent = this.#others.find(({ threadId }) => threadId === parentId);
      const copied = copiedRecords(rollout, parent);
      reader = new RolloutReader(rollout, this.#context, this.#stateAtBase(rollout), copied);
      this.#readers.set(rollout, reader);
    }
    reader.readTo(end);
    this.#open.delete(rollout);
    return end === undefined ? reader.state : (reader.stateBefore(end) ?? reader.state);
  }

  /** Finds where the history of a file begins: in another file that it names, else nowhere. */
  #stateAtBase(rollout: Rollout): ThreadState {
    const base = rollout.meta["history_base"];
    if (base === undefined || base === null) return THREAD_START;
    const { thread_id: id, end_ordinal_exclusive: end } = member(rollout.meta, "history_base");
    const all = [...this.#own, ...this.#others];
    const found =
      all.find(({ rolloutId }) => rolloutId === id) ?? all.find(({ threadId }) => threadId === id);
    if (found === undefined || found === rollout || this.#open.has(found) || typeof end !== "number") {
      const [record] = rollout.records;
      const message = `The history goes on from the file of ${String(id)}, which is not there: it begins here.`;
      if (record !== undefined) this.#builder.issues.push(issueAt("PARENT_MISSING", message, record));
      return THREAD_START;
    }
    return this.#read(found, end);
  }

  /** Returns the parent's call that started this thread, if there is one. */
  #linkParent({ meta, threadId }: Rollout): void {
    const parentId = textOf(meta["parent_thread_id"]);
    if (parentId === undefined || threadId === undefined) return;
    const role = textOf(meta["agent_role"]);
    const nickname = textOf(meta["agent_nickname"]);
    const toolCallId = this.#callThatStarted(threadId);
    const link = subagentLink({ agentId: threadId, toolCallId, role, nickname });
    this.#builder.addBehind(`codex agent ${threadId}`, undefined, link);
  }

  #callThatStarted(threadId: string): string | undefined {
    for (const { records } of this.#others) {
      for (const { value } of records) {
        const item = member(value, "payload");
        const { output } = item;
        if (item["type"] !== "function_call_output" || typeof output !== "string") continue;
        if (output.includes(`"agent_id":"${threadId}"`)) return textOf(item["call_id"]);
      }
    }
    return undefined;
  }
}
