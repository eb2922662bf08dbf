import { NONE } from "../../../core/tree/entry-tree.ts";
import { findNextFailure, getSubject, type Position, type Step } from "../model/navigation.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { Sight } from "./viewport.ts";

/** Reader of a session: the position, the function that changes it, and the viewed entry. */
export interface Reader {
  readonly position: Position;
  readonly go: (step: Step) => void;
  readonly sight: Sight;
}

/** Goes to the next or previous failure, from the position's subject or the entry in view. */
export function goToFailure(session: SessionModel, { position, go, sight }: Reader, direction: 1 | -1): void {
  const subject = getSubject(position);
  const ordinal = findNextFailure(session, subject === NONE ? sight.ordinal : subject, direction);
  if (ordinal !== undefined) go({ go: "entry", ordinal });
}
