import { findAnswer } from "../../../core/facts/tool-calls.ts";
import { type Spent, sumSpent } from "../../../core/facts/usage-tally.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type { EntryFacts } from "./entry-facts.ts";
import { getKindAt, type SessionModel } from "./session-model.ts";

/** A turn: what came of a message of the user, up to the next one. */
export interface Turn {
  readonly used: Spent;
  /** From the message to the last entry of the turn, in milliseconds; NaN if times are missing. */
  readonly milliseconds: number;
}

/** The turns of a path, each of which is added up when it is asked for. */
export class PathTurns {
  readonly #session: SessionModel;
  readonly #path: readonly number[];
  readonly #known = new Map<number, Turn | undefined>();

  constructor(session: SessionModel, path: readonly number[]) {
    this.#session = session;
    this.#path = path;
  }

  /**
   * Returns the turn that a message of the user began; undefined if no record tells what it used, and for other entries.
   *
   * @remarks Cost: O(turn), after the place on the path was found.
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

/** Returns what was used from a message of the user to the next one on a path, and when the last entry of the turn was written. */
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
 * Returns how long an answer took from the entry before it, or a result of a tool from the answer that called it.
 *
 * @returns Milliseconds; undefined for other entries, and where no times or impossible ones are recorded.
 */
export function getTookMs(session: SessionModel, ordinal: number): number | undefined {
  const answer = findAnswer(session, ordinal);
  if (answer === undefined) return undefined;
  const before = answer === ordinal ? session.tree.parentAt(ordinal) : answer;
  if (before === NONE) return undefined;
  const milliseconds = getTimeAt(session, ordinal) - getTimeAt(session, before);
  return milliseconds > 0 ? milliseconds : undefined;
}

/** What somebody did for a while on a path. */
export interface Stretch {
  /** The entry with which it ended. */
  readonly ordinal: number;
  readonly kind: "model" | "tool" | "failed";
  readonly milliseconds: number;
}

/** More stretches than this cannot be told apart. */
const MAX_STRETCHES = 300;

/**
 * Returns how the time of a path went, in its order: to answers of the model, and to tools and commands; what the user took is
 * left out. Of very many stretches those that follow one another are one, which failed if one of them did.
 *
 * @remarks Cost: O(path).
 */
export function findStretches(session: SessionModel, path: readonly number[]): Stretch[] {
  const all = path.flatMap((ordinal, index): Stretch[] => {
    const facts = session.facts[ordinal];
    const before = path[index - 1];
    const kind = facts && getStretchKind(facts);
    if (kind === undefined || before === undefined) return [];
    const milliseconds = getTimeAt(session, ordinal) - getTimeAt(session, before);
    return milliseconds > 0 ? [{ ordinal, kind, milliseconds }] : [];
  });
  const size = Math.ceil(all.length / MAX_STRETCHES);
  return size <= 1
    ? all
    : Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
        joinStretches(all.slice(at * size, (at + 1) * size)),
      );
}

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

/** What programs note does not belong to the time of a turn: a title can be set days later. */
function isAside(session: SessionModel, ordinal: number): boolean {
  return getKindAt(session, ordinal).tone === "quiet";
}

function getTimeAt({ tree }: SessionModel, ordinal: number): number {
  return ordinal === NONE ? Number.NaN : tree.timeAt(ordinal);
}
