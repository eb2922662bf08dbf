import { useEffect, useRef } from "preact/hooks";
import { listenToWindow } from "./listen-to-window.ts";

/** Keys and their commands, and the help text for each row; `also` contains the other keys that this text mentions. */
const KEYS = [
  {
    help: "next and previous entry (also ↓ and ↑)",
    keys: { j: "next", k: "previous" },
    also: { ArrowDown: "next", ArrowUp: "previous" },
  },
  { help: "next and previous message of the user", keys: { "]": "nextTurn", "[": "previousTurn" } },
  {
    help: "next and previous branch (also → and ←)",
    keys: { l: "nextBranch", h: "previousBranch" },
    also: { ArrowRight: "nextBranch", ArrowLeft: "previousBranch" },
  },
  {
    help: "first and last entry (also Home and End)",
    keys: { g: "first", G: "last" },
    also: { Home: "first", End: "last" },
  },
  {
    help: "open or close the entry (also o)",
    keys: { Enter: "toggleEntry" },
    also: { o: "toggleEntry" },
  },
  { help: "open or close everything", keys: { e: "toggleAll" } },
  { help: "search", keys: { "/": "search" } },
  { help: "next and previous match", keys: { n: "nextHit", N: "previousHit" } },
  { help: "next and previous failure", keys: { f: "nextFailure", F: "previousFailure" } },
  { help: "filters: failures, roles, tools, labels", keys: { v: "filters" } },
  {
    help: "what the model saw at this entry (for a result, at its call), and back",
    keys: { m: "toggleModelView" },
  },
  { help: "usage: tokens, cache and cost", keys: { u: "usage" } },
  { help: "commands for a terminal: continue, fork, redact", keys: { c: "commands" } },
  { help: "hide what follows this entry", keys: { x: "endHere" } },
  { help: "back to the current branch", keys: { L: "leaf" } },
  { help: "show or hide the tree", keys: { t: "tree" } },
  { help: "light or dark", keys: { d: "theme" } },
  { help: "these keys, and what the signs mean", keys: { "?": "help" }, also: { Escape: "escape" } },
] as const;

type ValuesOf<T> = T extends object ? T[keyof T] : never;

/** Command of a key. */
export type KeyCommand =
  | ValuesOf<(typeof KEYS)[number]["keys"]>
  | ValuesOf<Extract<(typeof KEYS)[number], { also: object }>["also"]>;

/** Commands of keys, and the functions that run them. */
export type KeyCommands = { readonly [command in KeyCommand]?: () => void };

const COMMANDS: ReadonlyMap<string, KeyCommand> = new Map(
  KEYS.flatMap((row) => [...Object.entries(row.keys), ...Object.entries("also" in row ? row.also : {})]),
);

/** Keys and their effects, as the help shows them. */
export const KEY_HELP: readonly (readonly [keys: readonly string[], purpose: string])[] = KEYS.map(
  ({ keys, help }) => [Object.keys(keys), help],
);

/** Keys of a list of sessions. */
export const LIST_KEY_HELP: typeof KEY_HELP = [
  [["j", "k"], "next and previous session"],
  [["↓", "↑"], "next and previous session or hit; in the field, ↓ goes to the first"],
  [["Enter"], "open it; in the field, search the contents"],
  [["/"], "filter by title, project or id; Escape clears, and leaves the field"],
  [["d"], "light or dark"],
  [["?"], "these keys, and what the signs mean"],
];

/** Keys that scroll an element, and the sizes that determine whether it can scroll. */
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
 * Returns the command of a key; undefined if the key has no command, as in a text field, or if it scrolls.
 *
 * @param isConversation - Whether a conversation is shown, where arrows, Home, and End move between entries.
 */
function findCommand(event: KeyboardEvent, isConversation: boolean): KeyCommand | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return undefined;
  const { target, key } = event;
  const isWriting = target instanceof HTMLInputElement && target.type !== "range";
  if (isWriting) return key === "Escape" ? "escape" : undefined;
  // A focused button handles these keys itself.
  if ((key === "Enter" || key === " ") && target instanceof Element && target.closest("button, a"))
    return undefined;
  if (SCROLLING.has(key) && (!isConversation || canScroll(target, key))) return undefined;
  return COMMANDS.get(key);
}

/** Returns whether a key scrolls a focused element inside an entry, or the path bar. */
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

/** Listens for key presses on the whole page; see `findCommand`. */
export function useKeys(isConversation: boolean, commands: KeyCommands): void {
  const latest = useRef({ isConversation, commands });
  latest.current = { isConversation, commands };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const command = findCommand(event, latest.current.isConversation);
      const run = command && latest.current.commands[command];
      // An open dialog receives all keys.
      if (run === undefined || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      run();
    };
    return listenToWindow("keydown", onKey);
  }, []);
}
