import { useMemo } from "preact/hooks";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type { Position } from "../model/navigation.ts";
import { getPathTo, type SessionModel } from "../model/session-model.ts";
import { PathTurns } from "../model/turns.ts";
import type { PageContextValue } from "./page-context.ts";

/** Finds the turns of the shown path, and of the path next to it. */
export function usePathTurns(session: SessionModel, position: Position): PageContextValue["turns"] {
  return useMemo(() => {
    const [own, other] = [position.end, position.beside ?? NONE].map(
      (end) => new PathTurns(session, getPathTo(session, end)),
    );
    return { get: (ordinal: number) => own?.get(ordinal) ?? other?.get(ordinal) };
  }, [session, position.beside, position.end]);
}
