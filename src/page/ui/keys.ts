import { useEffect, useRef } from "preact/hooks";

/** What a key asks for. */
export type KeyCommand =
  | "next"
  | "previous"
  | "nextTurn"
  | "previousTurn"
  | "first"
  | "last"
  | "nextBranch"
  | "previousBranch"
  | "toggleEntry"
  | "toggleAll"
  | "search"
  | "nextHit"
  | "previousHit"
  | "nextFailure"
  | "previousFailure"
  | "filters"
  | "toggleModelView"
  | "usage"
  | "tree"
  | "theme"
  | "endHere"
  | "leaf"
  | "help"
  | "escape";

const COMMANDS: ReadonlyMap<string, KeyCommand> = new Map([
  ["j", "next"],
  ["ArrowDown", "next"],
  ["k", "previous"],
  ["ArrowUp", "previous"],
  ["]", "nextTurn"],
  ["[", "previousTurn"],
  ["g", "first"],
  ["Home", "first"],
  ["G", "last"],
  ["End", "last"],
  ["l", "nextBranch"],
  ["ArrowRight", "nextBranch"],
  ["h", "previousBranch"],
  ["ArrowLeft", "previousBranch"],
  ["Enter", "toggleEntry"],
  ["o", "toggleEntry"],
  ["e", "toggleAll"],
  ["/", "search"],
  ["n", "nextHit"],
  ["N", "previousHit"],
  ["f", "nextFailure"],
  ["F", "previousFailure"],
  ["v", "filters"],
  ["m", "toggleModelView"],
  ["u", "usage"],
  ["t", "tree"],
  ["d", "theme"],
  ["x", "endHere"],
  ["L", "leaf"],
  ["?", "help"],
  ["Escape", "escape"],
]);

/** Keys and what they do, as the help shows them. */
export const KEY_HELP: readonly (readonly [keys: readonly string[], purpose: string])[] = [
  [["j", "k"], "next and previous entry (also ↓ and ↑)"],
  [["]", "["], "next and previous message of the user"],
  [["l", "h"], "next and previous branch (also → and ←)"],
  [["g", "G"], "first and last entry (also Home and End)"],
  [["Enter"], "open or close all folds of the entry (also o)"],
  [["e"], "open or close all folds"],
  [["/"], "search"],
  [["n", "N"], "next and previous place that was found"],
  [["f", "F"], "next and previous failure"],
  [["v"], "filters: failures, roles, tools, labels"],
  [["m"], "what the model saw at this entry (of a result, at its call), and back"],
  [["u"], "usage: tokens, cache and cost"],
  [["x"], "end the path at this entry"],
  [["L"], "back to the leaf"],
  [["t"], "show or hide the tree"],
  [["d"], "light or dark"],
  [["?"], "these keys, and what the signs mean"],
];

/** Keys with which an element scrolls, and the sizes that say whether it can. */
const SCROLLING: ReadonlyMap<
  string,
  readonly [whole: "scrollWidth" | "scrollHeight", seen: "clientWidth" | "clientHeight"]
> = new Map([
  ["ArrowLeft", ["scrollWidth", "clientWidth"]],
  ["ArrowRight", ["scrollWidth", "clientWidth"]],
  ["ArrowUp", ["scrollHeight", "clientHeight"]],
  ["ArrowDown", ["scrollHeight", "clientHeight"]],
  ["Home", ["scrollHeight", "clientHeight"]],
  ["End", ["scrollHeight", "clientHeight"]],
]);

/**
 * Tells what a key asks for; undefined for nothing, such as while somebody writes, or where it scrolls.
 *
 * @param isConversation - Whether entries are in sight, among which arrows, Home and End lead.
 */
export function commandOf(event: KeyboardEvent, isConversation: boolean): KeyCommand | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return undefined;
  const { target, key } = event;
  const isWriting = target instanceof HTMLInputElement;
  if (isWriting) return key === "Escape" ? "escape" : undefined;
  // A button that has the focus answers to these keys itself.
  if ((key === "Enter" || key === " ") && target instanceof Element && target.closest("button, a"))
    return undefined;
  if (SCROLLING.has(key) && (!isConversation || canScroll(target, key))) return undefined;
  return COMMANDS.get(key);
}

/** Tells whether a focused element other than the conversation itself scrolls with a key. */
function canScroll(target: EventTarget | null, key: string): boolean {
  const sizes = SCROLLING.get(key);
  if (
    sizes === undefined ||
    !(target instanceof Element) ||
    target.closest("main .entry, .path-bar") === null
  )
    return false;
  const [whole, seen] = sizes;
  const style = getComputedStyle(target);
  const overflow = whole === "scrollWidth" ? style.overflowX : style.overflowY;
  return (overflow === "auto" || overflow === "scroll") && target[whole] > target[seen];
}

/** Listens to the keys of the whole page; see `commandOf`. */
export function useKeys(
  isConversation: boolean,
  commands: { readonly [command in KeyCommand]: () => void },
): void {
  const latest = useRef({ isConversation, commands });
  latest.current = { isConversation, commands };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const command = commandOf(event, latest.current.isConversation);
      // An open dialog has the keys to itself.
      if (command === undefined || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      latest.current.commands[command]();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
