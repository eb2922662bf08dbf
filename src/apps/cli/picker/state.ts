import type { Key } from "node:readline";
import { single } from "fuzzysort";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { getSessionTitle } from "../../../core/facts/session-title.ts";
import { getOrAdd } from "../../../core/format/group-by.ts";
import { compareRows, type FileRow } from "../../../session/files/session-row.ts";

/** Session in a picker. */
export interface PickerRow extends FileRow {
  /** Its relationship to another session, in parentheses, shown before its title; empty if it has none. */
  readonly kinship: string;
}

/** State of a picker, except the size of its screen. */
export interface PickerState {
  /** Sessions already found, latest first. */
  readonly sessions: readonly PickerRow[];
  readonly isComplete: boolean;
  readonly scope: PickerScope;
  /** Typed text: a filter of the list, or the query of a content search. */
  readonly filter: string;
  /** Content search; undefined while the list is filtered instead. */
  readonly contents: ContentSearch | undefined;
  /** Path of the highlighted session; undefined for the first session in the list. */
  readonly cursor: string | undefined;
  readonly mode: PickerMode;
  /** Latest message to the user, displayed until the next key. */
  readonly message: string;
  /** Last messages of sessions, by path. */
  readonly previews: ReadonlyMap<string, readonly PreviewLine[]>;
}

/** Scope of the displayed sessions. The scope of a named folder cannot be changed. */
export type PickerScope = "project" | "all" | "folder";

/** Current meaning of keys. */
export type PickerMode =
  | { readonly kind: "list" }
  | { readonly kind: "rename"; readonly path: string; readonly text: string }
  | { readonly kind: "delete"; readonly path: string };

/** Search for the typed text in the contents of sessions. */
export interface ContentSearch {
  /** Matching entries, by the path of their session. */
  readonly found: ReadonlyMap<string, readonly PreviewLine[]>;
  readonly isComplete: boolean;
}

/** Message in a preview. */
export interface PreviewLine {
  readonly word: string;
  /** One safe line. */
  readonly text: string;
}

/** Event of a picker. */
export type PickerEvent =
  | { readonly kind: "found"; readonly sessions: readonly PickerRow[] }
  | { readonly kind: "complete" }
  | { readonly kind: "preview"; readonly path: string; readonly lines: readonly PreviewLine[] }
  /** An entry matches the search. */
  | { readonly kind: "hit"; readonly query: string; readonly path: string; readonly line: PreviewLine }
  | { readonly kind: "searched"; readonly query: string }
  | { readonly kind: "renamed"; readonly path: string; readonly name: string }
  | { readonly kind: "deleted"; readonly path: string }
  | { readonly kind: "said"; readonly message: string }
  /** A key; `page` is the number of visible sessions. */
  | { readonly kind: "key"; readonly key: PickerKey; readonly page: number };

/** Task that results from an event. */
export type PickerTask =
  | { readonly kind: "choose"; readonly session: PickerRow }
  | { readonly kind: "leave" }
  | { readonly kind: "find"; readonly scope: PickerScope }
  /** Starts a content search that replaces the previous one; an empty query ends the search. */
  | { readonly kind: "search"; readonly query: string; readonly scope: PickerScope }
  | { readonly kind: "rename"; readonly path: string; readonly name: string }
  | { readonly kind: "delete"; readonly path: string };

/** Result of an event. */
export interface PickerStep {
  readonly state: PickerState;
  readonly task?: PickerTask;
}

const NOT_YET_FOUND: ContentSearch = { found: new Map(), isComplete: false };

const LIST: PickerMode = { kind: "list" };

/** Returns the initial state of a picker. */
export function makeEmptyPicker(scope: PickerScope): PickerState {
  return {
    sessions: [],
    isComplete: false,
    scope,
    filter: "",
    contents: undefined,
    cursor: undefined,
    mode: LIST,
    message: "",
    previews: new Map(),
  };
}

/** Returns the sessions that match the filter, best first, or the sessions with matching contents, latest first. */
export function findMatches({ sessions, filter, contents, scope }: PickerState): readonly PickerRow[] {
  if (contents === undefined) return findBestMatches(sessions, filter, scope);
  return filter.trim() === "" ? sessions : sessions.filter(({ path }) => contents.found.has(path));
}

/** Returns the index of the highlighted session among the matches; 0 if it is not among them. */
export function findCursor(matches: readonly PickerRow[], { cursor }: PickerState): number {
  return Math.max(
    0,
    matches.findIndex(({ path }) => path === cursor),
  );
}

/** Returns the highlighted session; undefined if there are no matches. */
export function findHighlighted(state: PickerState): PickerRow | undefined {
  const matches = findMatches(state);
  return matches[findCursor(matches, state)];
}

/** Applies an event; returns the new state and the resulting task. */
export function takeEvent(state: PickerState, event: PickerEvent): PickerStep {
  switch (event.kind) {
    case "found": {
      const sessions = [...state.sessions, ...event.sessions].sort(compareRows);
      return { state: { ...state, sessions } };
    }
    case "complete":
      return { state: { ...state, isComplete: true } };
    case "preview":
      return { state: { ...state, previews: new Map(state.previews).set(event.path, event.lines) } };
    case "hit":
      return { state: withHit(state, event) };
    case "searched": {
      const { contents, filter } = state;
      const isCurrent = contents !== undefined && filter.trim() === event.query;
      return { state: isCurrent ? { ...state, contents: { ...contents, isComplete: true } } : state };
    }
    case "renamed":
      return { state: { ...renameSession(state, event.path, event.name), message: "The name was stored." } };
    case "deleted":
      return { state: { ...without(state, event.path), message: "The session was moved to the trash." } };
    case "said":
      return { state: { ...state, message: event.message } };
    case "key":
      return takeKey({ ...state, message: "" }, event.key, event.page);
  }
}

function takeKey(state: PickerState, key: PickerKey, page: number): PickerStep {
  if (key === "leave") return { state, task: { kind: "leave" } };
  switch (state.mode.kind) {
    case "list":
      return takeListKey(state, key, page);
    case "rename":
      return takeRenameKey(state, state.mode, key);
    case "delete": {
      const isConfirmed = typeof key === "object" && key.text.toLowerCase() === "y";
      const next = { ...state, mode: LIST };
      return isConfirmed ? { state: next, task: { kind: "delete", path: state.mode.path } } : { state: next };
    }
  }
}

function takeListKey(state: PickerState, key: PickerKey, page: number): PickerStep {
  if (typeof key === "object") return setFilter(state, state.filter + key.text);
  const session = findHighlighted(state);
  const about = ({ path }: PickerRow, mode: PickerMode) => ({ state: { ...state, cursor: path, mode } });
  switch (key) {
    case "up":
      return { state: moveCursor(state, -1) };
    case "down":
      return { state: moveCursor(state, 1) };
    case "page-up":
      return { state: moveCursor(state, -page) };
    case "page-down":
      return { state: moveCursor(state, page) };
    case "home":
      return { state: moveCursor(state, Number.NEGATIVE_INFINITY) };
    case "end":
      return { state: moveCursor(state, Number.POSITIVE_INFINITY) };
    case "rub-out":
      return setFilter(state, withoutLast(state.filter));
    case "rub-out-all":
      return setFilter(state, "");
    case "back":
      return state.contents === undefined ? { state, task: { kind: "leave" } } : endContentSearch(state);
    case "contents":
      return state.contents === undefined
        ? setFilter({ ...state, contents: NOT_YET_FOUND }, state.filter)
        : endContentSearch(state);
    case "toggle":
      return toggleScope(state);
    case "enter":
      return session === undefined ? { state } : { state, task: { kind: "choose", session } };
    case "rename":
      if (session === undefined) return { state };
      // Keeps this session highlighted when others are found.
      return about(session, { kind: "rename", path: session.path, text: toPlainLine(session.name ?? "") });
    case "delete":
      return session === undefined ? { state } : about(session, { kind: "delete", path: session.path });
    case "leave":
      return { state };
  }
}

function takeRenameKey(
  state: PickerState,
  mode: PickerMode & { readonly kind: "rename" },
  key: PickerKey,
): PickerStep {
  const typed = (text: string): PickerStep => ({ state: { ...state, mode: { ...mode, text } } });
  if (typeof key === "object") return typed(mode.text + key.text);
  switch (key) {
    case "rub-out":
      return typed(withoutLast(mode.text));
    case "rub-out-all":
      return typed("");
    case "back":
      return { state: { ...state, mode: LIST } };
    case "enter":
      return {
        state: { ...state, mode: LIST },
        task: { kind: "rename", path: mode.path, name: mode.text.trim() },
      };
    default:
      return { state };
  }
}

function setFilter(state: PickerState, filter: string): PickerStep {
  const next = { ...state, filter, cursor: undefined };
  if (state.contents === undefined) return { state: next };
  const query = filter.trim();
  return {
    state: { ...next, contents: NOT_YET_FOUND },
    task: { kind: "search", query, scope: state.scope },
  };
}

/** Ends a content search. */
function endContentSearch(state: PickerState): PickerStep {
  return {
    state: { ...state, contents: undefined, cursor: undefined },
    task: { kind: "search", query: "", scope: state.scope },
  };
}

/** Returns the state with a found entry; unchanged if the query has changed since. */
function withHit(
  state: PickerState,
  { query, path, line }: { readonly query: string; readonly path: string; readonly line: PreviewLine },
): PickerState {
  const { contents, filter } = state;
  if (contents === undefined || filter.trim() !== query) return state;
  const found = new Map(contents.found).set(path, [...(contents.found.get(path) ?? []), line]);
  return { ...state, contents: { ...contents, found } };
}

function moveCursor(state: PickerState, by: number): PickerState {
  const matches = findMatches(state);
  const to = Math.min(Math.max(0, findCursor(matches, state) + by), matches.length - 1);
  // The first row stays highlighted while more sessions are found.
  return { ...state, cursor: to <= 0 ? undefined : matches[to]?.path };
}

function toggleScope(state: PickerState): PickerStep {
  if (state.scope === "folder") return { state };
  const scope = state.scope === "project" ? "all" : "project";
  const { filter, previews } = state;
  return { state: { ...makeEmptyPicker(scope), filter, previews }, task: { kind: "find", scope } };
}

function renameSession(state: PickerState, path: string, name: string): PickerState {
  const sessions = state.sessions.map((session) =>
    session.path === path
      ? {
          ...session,
          name,
          title: getSessionTitle({ ...session, name, createdMs: session.created.getTime() }),
        }
      : session,
  );
  return { ...state, sessions };
}

/** Returns the state without a session; the next session is highlighted. */
function without(state: PickerState, path: string): PickerState {
  const matches = findMatches(state);
  const at = matches.findIndex((session) => session.path === path);
  const next = matches[at + 1] ?? matches[at - 1];
  const sessions = state.sessions.filter((session) => session.path !== path);
  const isFirst = at === 0;
  return { ...state, sessions, cursor: isFirst ? undefined : next?.path };
}

/** Returns a string without its last user-perceived character. */
function withoutLast(text: string): string {
  const last = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)].at(-1);
  return text.slice(0, last?.index ?? 0);
}

/** Maximum number of characters of a title that are matched by letters; a longer title would match almost any letters. */
const TITLE_LENGTH = 200;

/** Minimum rank of a match by letters; below it, the letters are so far apart that a match is a coincidence. */
const MIN_RANK = 0.25;

/** Ranks of a session that contains all typed words, in its name and first message or anywhere: higher than a match by letters. */
const SAID_RANK = 3;
const WORDS_RANK = 2;

/** Cached matches of each list, because they are requested several times between key presses. */
const known = new WeakMap<
  readonly PickerRow[],
  { filter: string; scope: PickerScope; matches: readonly PickerRow[] }
>();

/**
 * Returns the sessions that match a filter, in list order: first those that contain its words in their names and first messages, then
 * those that contain them anywhere, then, best first, those whose titles contain its letters in order.
 *
 * @remarks Cost: O(characters in their rows), once per list, filter, and scope.
 */
function findBestMatches(
  sessions: readonly PickerRow[],
  filter: string,
  scope: PickerScope,
): readonly PickerRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return sessions;
  const before = known.get(sessions);
  if (before?.filter === filter && before.scope === scope) return before.matches;
  const ranked = sessions.flatMap((session) => {
    const rank = getRank(session, words, scope);
    return rank < MIN_RANK ? [] : [{ session, rank }];
  });
  const matches = ranked.sort((a, b) => b.rank - a.rank).map(({ session }) => session);
  known.set(sessions, { filter, scope, matches });
  return matches;
}

function getRank(session: PickerRow, words: readonly string[], scope: PickerScope): number {
  const { said, id, folder } = getSearchedText(session);
  if (words.every((word) => said.includes(word))) return SAID_RANK;
  // All sessions of a project share its folder, so a word of its path does not distinguish them.
  const anywhere = scope === "project" ? `${said}\n${id}` : `${said}\n${id}\n${folder}`;
  if (words.every((word) => anywhere.includes(word))) return WORDS_RANK;
  return single(words.join(" "), session.title.slice(0, TITLE_LENGTH))?.score ?? 0;
}

/** Text of a session that a filter searches, in lowercase. */
interface SearchedText {
  /** Name and first message. */
  readonly said: string;
  readonly id: string;
  readonly folder: string;
}

const searched = new WeakMap<PickerRow, SearchedText>();

function getSearchedText(session: PickerRow): SearchedText {
  const { name = "", firstMessage = "", id, cwd } = session;
  return getOrAdd(searched, session, () => ({
    said: `${toPlainLine(name)}\n${toPlainLine(firstMessage)}`.toLowerCase(),
    id: id.toLowerCase(),
    folder: cwd.toLowerCase(),
  }));
}

const COMMANDS = {
  up: "up",
  "ctrl-p": "up",
  down: "down",
  "ctrl-n": "down",
  pageup: "page-up",
  pagedown: "page-down",
  home: "home",
  end: "end",
  return: "enter",
  enter: "enter",
  escape: "back",
  "ctrl-c": "leave",
  "ctrl-r": "rename",
  "ctrl-d": "delete",
  delete: "delete",
  tab: "toggle",
  "ctrl-f": "contents",
  backspace: "rub-out",
  "ctrl-h": "rub-out",
  "ctrl-u": "rub-out-all",
} as const;

/** Command of a key that does not type text. */
type PickerCommand = (typeof COMMANDS)[keyof typeof COMMANDS];

/** Action of a key: a command, or text to insert. */
export type PickerKey = { readonly text: string } | PickerCommand;

const BY_NAME: ReadonlyMap<string, PickerCommand> = new Map(Object.entries(COMMANDS));

/** Control characters, which are never treated as typed text. */
const CONTROL = /\p{Cc}/u;

/**
 * Converts a key, as described by Node's readline, and the text that it types to an action; undefined if the key has no action.
 */
export function toPickerKey(text: string | undefined, { name, ctrl, meta }: Key): PickerKey | undefined {
  const command = name === undefined ? undefined : BY_NAME.get(`${ctrl ? "ctrl-" : ""}${name}`);
  if (command !== undefined) return command;
  if (ctrl || meta || text === undefined || text === "" || CONTROL.test(text)) return undefined;
  return { text };
}
