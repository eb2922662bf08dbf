import { useLayoutEffect, useRef } from "preact/hooks";
import { isConversationShown, type Position, type Step } from "../model/navigation.ts";
import type { SessionModel } from "../model/session-model.ts";

/** Follows the leaf, and the end of the conversation, if the reader is there when the session grows. */
export function useFollowing(
  session: SessionModel,
  wasAtEnd: boolean,
  position: Position,
  go: (step: Step) => void,
): void {
  const before = useRef(session);
  useLayoutEffect(() => {
    if (before.current === session) return;
    const { leaf, size } = before.current;
    before.current = session;
    // New facts about the same entries, such as estimates of their costs, do not move the reader.
    if (session.size === size) return;
    const { end } = position;
    const isAtLeaf = end === leaf;
    const isFollowed = wasAtEnd && isAtLeaf && isConversationShown(position);
    go({ go: "grown", end: isAtLeaf ? session.leaf : end, isFollowed });
  }, [session]);
}
