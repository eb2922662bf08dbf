import { findAnswer } from "../../../core/facts/tool-calls.ts";
import { type Spent, sumSpent } from "../../../core/facts/usage-tally.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type { EntryFacts } from "./entry-facts.ts";
import { rememberLatest } from "./latest-results.ts";
import { getKindAt, type SessionModel } from "./session-model.ts";

/** Turn: a user message and the entries after it, up to the next user message. */
export interface Turn {
  readonly used: Spent;
  /** Time from the message to the last entry of the turn, in milliseconds; NaN if times are missing. */
  readonly milliseconds: number;
}

/** Turns of a path, each computed on access. */
export class PathTurns {
  readonly #session: SessionModel;
  readonly #path: readonly number[];
  readonly #known = new Map<number, Turn | undefined>();

  constructor(session: SessionModel, path: readonly number[]) {
    this.#session = session;
    this.#path = path;
  }

  /**
   * Returns the turn that a user message started; undefined if no record states its usage, or for other entries.
   *
   * @remarks Cost: O(turn), after a search for the message on the path.
   */
  get(ordinal: number): Turn | undefined {
    if (!this.#known.has(ordinal)) this.#known.set(ordinal, this.#find(ordinal));
    return this.#known.get(ordinal);
  }

  #find(start: number): Turn | undefined {
    const [session, path] = [this.#session, this.#path];
    const isStart = (ordinal: number) => getKindAt(session, ordinal).tone === "user";
    const from = session.isWhole && isStart(start) ? path.indexOf(start) : -1;
    if (from === -1) return undefined;
    const [usages, lastMs] = gatherTurn(session, path, from);
    const milliseconds = lastMs - getTimeAt(session, start);
    return usages.length === 0 ? undefined : { used: sumSpent(usages), milliseconds };
  }
}

/** Returns the usage records from one user message to the next on a path, and the time of the turn's last entry. */
function gatherTurn(
  session: SessionModel,
  path: readonly number[],
  from: number,
): [usages: Readonly<Spent>[], lastMs: number] {
  const usages: Readonly<Spent>[] = [];
  let lastMs = Number.NaN;
  for (let at = from; at < path.length; at++) {
    const ordinal = path[at] ?? NONE;
    if (at > from && getKindAt(session, ordinal).tone === "user") break;
    const { used } = session.facts[ordinal] ?? {};
    if (used !== undefined) usages.push(used);
    if (!isAside(session, ordinal)) lastMs = getTimeAt(session, ordinal);
  }
  return [usages, lastMs];
}

/**
 * Returns the time from the previous entry to an answer, or from the answer with the call to the result of a tool.
 *
 * @returns Milliseconds; undefined for other entries, or if the recorded times are missing or impossible.
 */
export function getTookMs(session: SessionModel, ordinal: number): number | undefined {
  const answer = findAnswer(session, ordinal);
  if (answer === undefined) return undefined;
  const before = answer === ordinal ? session.tree.parentAt(ordinal) : answer;
  if (before === NONE) return undefined;
  const milliseconds = getTimeAt(session, ordinal) - getTimeAt(session, before);
  return milliseconds > 0 ? milliseconds : undefined;
}

/** Time that the model or a tool spent on a path. */
export interface Stretch {
  /** The entry at its end. */
  readonly ordinal: number;
  readonly kind: "model" | "tool" | "failed";
  readonly milliseconds: number;
}

/** Maximum number of stretches that a user can distinguish. */
const MAX_STRETCHES = 300;

/**
 * Returns how the time on a path was spent, in path order: on model answers, tools, and commands, excluding the user's time. If
 * there are too many stretches, neighbors are merged; a merged stretch failed if any of its parts failed.
 *
 * @remarks Cost: O(path).
 */
export const findStretches = rememberLatest(
  (session: SessionModel, path: readonly number[]): readonly Stretch[] => {
    const all: Stretch[] = [];
    let before = NONE;
    for (const ordinal of path) {
      const facts = session.facts[ordinal];
      const kind = facts && getStretchKind(facts);
      const milliseconds = kind === undefined ? 0 : getTimeAt(session, ordinal) - getTimeAt(session, before);
      if (kind !== undefined && milliseconds > 0) all.push({ ordinal, kind, milliseconds });
      before = ordinal;
    }
    const size = Math.ceil(all.length / MAX_STRETCHES);
    return size <= 1
      ? all
      : Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
          joinStretches(all.slice(at * size, (at + 1) * size)),
        );
  },
  2,
);

function joinStretches(some: readonly Stretch[]): Stretch {
  const longest = some.reduce((best, one) => (one.milliseconds > best.milliseconds ? one : best));
  const failed = some.find(({ kind }) => kind === "failed");
  const milliseconds = some.reduce((sum, one) => sum + one.milliseconds, 0);
  return { ...(failed ?? longest), milliseconds };
}

function getStretchKind({ outcome, callId, kind: { tone } }: EntryFacts): Stretch["kind"] | undefined {
  if (outcome === "failed") return "failed";
  if (callId !== "" || tone === "command") return "tool";
  return tone === "assistant" || tone === "summary" ? "model" : undefined;
}

/** Returns whether an entry is excluded from a turn's time: program notes are excluded, because a title can be set days later. */
function isAside(session: SessionModel, ordinal: number): boolean {
  return getKindAt(session, ordinal).tone === "quiet";
}

function getTimeAt({ tree }: SessionModel, ordinal: number): number {
  return ordinal === NONE ? Number.NaN : tree.timeAt(ordinal);
}
