import { findAnswer } from "../../../core/facts/tool-calls.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { getPathTo, getSiblings, hasSiblings, isHiddenRecord, type SessionModel } from "./session-model.ts";
import { findShownEnd } from "./shown-items.ts";

/** Views of a session. */
export type View = "path" | "model" | "beside" | "changes" | "usage" | "issues";

/** Reader's position in a session. */
export interface Position {
  /** Last entry of the shown path; NONE before the first. */
  readonly end: number;
  /** The focused entry; NONE if no entry is focused. */
  readonly focus: number;
  readonly view: View;
  /** The entry whose context is shown, so that the path ends where that context does; NONE if no context is shown. */
  readonly asked: number;
  /** Last entry of the other path, which is shown next to this path. */
  readonly beside?: number;
  /** Whether records of state, usage, and imports are shown; default: hidden. */
  readonly areRecordsShown?: boolean;
  /**
   * Scroll request: where to align the focused entry, or the end if no entry is focused, and whether to reveal its search hit. A
   * new object is a new request; undefined requests nothing.
   */
  readonly reveal: { readonly align: "start" | "end" | "auto"; readonly isHit?: boolean } | undefined;
}

/** End of a context: before the answer that the entry is or results from, as when the model wrote it, or after the entry. */
export type ContextSide = "before" | "with";

/** Step from one position to another. */
export type Step =
  /** Focuses an entry, on the shown path if that contains it, otherwise on the newest path through it. */
  | { readonly go: "entry"; readonly ordinal: number; readonly isHit?: boolean }
  /** Ends the path at an entry. */
  | { readonly go: "end"; readonly ordinal: number }
  /** Moves to the next or previous entry of the path, from the focus or, without a focus, from the first entry in view. */
  | {
      readonly go: "by";
      readonly direction: 1 | -1;
      readonly from: number;
      readonly only?: "user" | undefined;
    }
  | { readonly go: "first" }
  | { readonly go: "last" }
  /** Shows the context of an entry; without a side, the context ends before its answer, if any, otherwise with the entry. */
  | { readonly go: "context"; readonly ordinal: number; readonly side?: ContextSide }
  /** Returns from a context or another view to the whole path, at the same entry. */
  | { readonly go: "whole" }
  /** Moves to the previous or next branch at a fork. */
  | { readonly go: "branch"; readonly direction: 1 | -1 }
  /** Shows the path to an entry next to the newest path through one of its siblings, from their fork. */
  | { readonly go: "beside"; readonly ordinal: number; readonly sibling: number }
  /** Follows a growing session: moves to the new end, and to the end of the list if that is followed. */
  | { readonly go: "grown"; readonly end: number; readonly isFollowed: boolean }
  | { readonly go: "view"; readonly view: View }
  /** Shows or hides records of state, usage, and imports. */
  | { readonly go: "records"; readonly areShown: boolean }
  /** Focuses an entry that is already in view. */
  | { readonly go: "mark"; readonly ordinal: number }
  | { readonly go: "position"; readonly position: Position };

/** Returns the position after a step; the same position if the step does not resolve to a position. */
export function takeStep(session: SessionModel, position: Position, step: Step): Position {
  const next = findPosition(session, position, step);
  const { areRecordsShown } = position;
  // A step does not change whether records are shown.
  const isKept =
    areRecordsShown === undefined || next.areRecordsShown !== undefined || step.go === "position";
  return isKept ? next : { ...next, areRecordsShown };
}

function findPosition(session: SessionModel, position: Position, step: Step): Position {
  switch (step.go) {
    case "entry": {
      const { ordinal, isHit = false } = step;
      return { ...lookAt(session, position, ordinal), reveal: { align: "start", isHit } };
    }
    case "end": {
      const view = position.view === "beside" ? "path" : position.view;
      const { ordinal } = step;
      const isKnown = ordinal === position.focus || ordinal === NONE;
      const focus = isKnown ? ordinal : findShownEnd(session, ordinal, position);
      return { ...position, view, end: ordinal, asked: NONE, focus, reveal: { align: "auto" } };
    }
    case "by":
      return takePathStep(session, position, step);
    case "first":
    case "last": {
      const path = getPathTo(session, position.end);
      const isShown = (one: number) => isShownAt(session, position, one);
      const ordinal = step.go === "first" ? path.find(isShown) : path.findLast(isShown);
      return ordinal === undefined ? position : { ...position, focus: ordinal, reveal: { align: "start" } };
    }
    case "context": {
      const end = getContextEnd(session, step);
      return { end, asked: step.ordinal, focus: end, view: "model", reveal: { align: "end" } };
    }
    case "whole":
      return toWholePath(session, position, position.asked);
    case "branch":
      return switchBranch(session, position, step.direction);
    case "beside": {
      const beside = session.newestTip[step.sibling] ?? step.sibling;
      const { end } = lookAt(session, position, step.ordinal);
      return { end, beside, view: "beside", asked: NONE, focus: step.ordinal, reveal: undefined };
    }
    case "grown":
      return step.isFollowed
        ? { ...position, end: step.end, focus: NONE, reveal: { align: "end" } }
        : { ...position, end: step.end, reveal: undefined };
    case "view":
      if (step.view === "path" && position.asked !== NONE)
        return toWholePath(session, position, position.asked);
      return {
        ...position,
        view: step.view,
        reveal: position.focus === NONE ? undefined : { align: "start" },
      };
    case "records":
      return { ...position, areRecordsShown: step.areShown, reveal: undefined };
    case "mark":
      return step.ordinal === position.focus
        ? position
        : { ...position, focus: step.ordinal, reveal: undefined };
    case "position":
      return step.position;
  }
}

function getContextEnd(session: SessionModel, { ordinal, side }: Extract<Step, { go: "context" }>): number {
  const answer = side === "with" ? undefined : findAnswer(session, ordinal);
  return answer === undefined ? ordinal : session.tree.parentAt(answer);
}

/** Returns whether a position shows a conversation: the path's, or the one that the model sees. */
export function isConversationShown({ view }: Position): boolean {
  return view === "path" || view === "model";
}

/** Returns the side of the entry where its shown context ends. */
export function getSide({ asked, end }: Position): ContextSide {
  return end === asked ? "with" : "before";
}

/**
 * Returns the subject of a position: the entry whose context is shown, until another entry in that context is focused; otherwise,
 * the focus.
 */
export function getSubject({ asked, end, focus }: Position): number {
  return asked !== NONE && focus === end ? asked : focus;
}

/** Returns the position that focuses an entry: on the shown path if that contains it, otherwise on the newest path through it. */
function lookAt(session: SessionModel, position: Position, ordinal: number): Position {
  const isShown = getPathTo(session, position.end).includes(ordinal);
  // The context of one entry does not apply to an entry outside it, and neither does any other view.
  if (position.asked !== NONE && !(isShown && position.view === "model"))
    return toWholePath(session, position, ordinal);
  const view = position.view === "model" ? "model" : "path";
  const end = isShown ? position.end : (session.newestTip[ordinal] ?? ordinal);
  return { end, view, asked: position.asked, focus: ordinal, reveal: undefined };
}

/**
 * Returns the whole path at an entry: to the leaf if that path contains the entry, otherwise the newest path through it; at NONE,
 * the shown path.
 */
function toWholePath(session: SessionModel, position: Position, ordinal: number): Position {
  if (ordinal === NONE) {
    return { ...position, view: "path", reveal: position.focus === NONE ? undefined : { align: "start" } };
  }
  const isOnLeafPath = getPathTo(session, session.leaf).includes(ordinal);
  const end = isOnLeafPath ? session.leaf : (session.newestTip[ordinal] ?? ordinal);
  return { end, asked: NONE, focus: ordinal, view: "path", reveal: { align: "start" } };
}

function takePathStep(
  session: SessionModel,
  position: Position,
  step: Extract<Step, { go: "by" }>,
): Position {
  const path = getPathTo(session, position.end);
  const hasFocus = path.includes(position.focus);
  const from = path.indexOf(hasFocus ? position.focus : step.from);
  const isMeant = (ordinal: number) =>
    step.only === undefined ? isShownAt(session, position, ordinal) : isUsers(session, ordinal);
  const ahead = step.direction === 1 ? path.slice(from + 1) : path.slice(0, Math.max(0, from)).reverse();
  // The first step only focuses the entry in view.
  const target = hasFocus || step.only !== undefined ? ahead.find(isMeant) : path[from];
  return target === undefined ? position : { ...position, focus: target, reveal: { align: "auto" } };
}

/**
 * Returns whether a position shows an entry of its path: the focus is always shown, but records only if the reader requested
 * them.
 */
function isShownAt(
  session: SessionModel,
  { focus, areRecordsShown = false }: Position,
  ordinal: number,
): boolean {
  return areRecordsShown || ordinal === focus || !isHiddenRecord(session, ordinal);
}

function isUsers({ kinds }: SessionModel, ordinal: number): boolean {
  return kinds[ordinal]?.tone === "user";
}

function switchBranch(session: SessionModel, position: Position, direction: 1 | -1): Position {
  const path = getPathTo(session, position.end);
  const focusAt = path.indexOf(position.focus);
  const upTo = focusAt === -1 ? path.length : focusAt + 1;
  // The nearest fork above the focus, or if there is none, the nearest one below.
  const fork =
    path.slice(0, upTo).findLast((ordinal) => hasSiblings(session, ordinal)) ??
    path.slice(upTo).find((ordinal) => hasSiblings(session, ordinal));
  if (fork === undefined) return position;
  const siblings = getSiblings(session, fork);
  const at = siblings.indexOf(fork) + direction;
  const other = siblings[(at + siblings.length) % siblings.length] ?? fork;
  const end = session.newestTip[other] ?? other;
  // Two paths that are shown side by side swap places.
  const beside = end === position.beside ? position.end : position.beside;
  const from = beside === undefined ? position : { ...position, beside };
  return { ...from, end, asked: NONE, focus: other, reveal: { align: "auto" } };
}

/** Finds the next failure after or before an entry in file order, wrapping around; undefined if nothing failed. */
export function findNextFailure(
  { failures }: Pick<SessionModel, "failures">,
  from: number,
  direction: 1 | -1,
): number | undefined {
  if (direction === 1) return failures.find((ordinal) => ordinal > from) ?? failures[0];
  return failures.findLast((ordinal) => ordinal < from) ?? failures.at(-1);
}
