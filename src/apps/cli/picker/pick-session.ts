import type { Key } from "node:readline";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { getErrorMessage, isSessionError } from "../../../core/format/errors.ts";
import type { CliTerminal } from "../io.ts";
import type { Colors } from "../output.ts";
import { FullScreen } from "./full-screen.ts";
import { makePickerLayout, renderPicker } from "./render.ts";
import {
  findHighlighted,
  makeEmptyPicker,
  type PickerEvent,
  type PickerRow,
  type PickerScope,
  type PickerState,
  type PickerTask,
  type PreviewLine,
  takeEvent,
  toPickerKey,
} from "./state.ts";

/** Environment of a picker. */
export interface PickerWorld {
  readonly terminal: CliTerminal;
  readonly colors: Colors;
  readonly scope: PickerScope;
  readonly nowMs: () => number;
  /** Yields sessions as they are found, until the signal aborts. */
  readonly find: (scope: PickerScope, signal: AbortSignal) => AsyncIterable<PickerRow>;
  /** Yields entries that contain a string as they are found, until the signal aborts. */
  readonly search: (query: string, scope: PickerScope, signal: AbortSignal) => AsyncIterable<ContentHit>;
  readonly preview: (path: string) => PreviewLine[];
  readonly rename: (path: string, name: string) => Promise<unknown>;
  readonly remove: (path: string) => Promise<unknown>;
}

/** Entry that matches a search. */
export interface ContentHit {
  readonly path: string;
  readonly line: PreviewLine;
}

/**
 * Delays in milliseconds: before found sessions are drawn, before the preview of the highlighted session is read, and before a
 * search starts after typing has stopped.
 */
const FOUND_MS = 40;
const PREVIEW_MS = 60;
const SEARCH_MS = 150;

/**
 * Displays a session picker on a terminal, and restores the terminal afterward.
 *
 * Sessions are displayed as they are found.
 *
 * @returns Undefined if the user left without choosing a session.
 * @throws Any error while drawing or finding sessions; errors that concern a single session are displayed instead.
 */
export async function pickSession(world: PickerWorld): Promise<PickerRow | undefined> {
  const picker = new Picker(world);
  try {
    return await picker.outcome;
  } finally {
    picker.close();
  }
}

/** Running picker: passes events to the state, draws the state, and performs the resulting tasks. */
class Picker {
  readonly outcome: Promise<PickerRow | undefined>;
  readonly #world: PickerWorld;
  readonly #screen: FullScreen;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #resolve: (session: PickerRow | undefined) => void = ignoreSignal;
  #reject: (error: unknown) => void = ignoreSignal;
  #state: PickerState;
  #search = new AbortController();
  #contentSearch = new AbortController();
  #found: PickerRow[] = [];
  #isOver = false;

  constructor(world: PickerWorld) {
    this.#world = world;
    this.#state = makeEmptyPicker(world.scope);
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#screen = new FullScreen(world.terminal, {
      key: (text, key) => this.#guard(() => this.#pressed(text, key)),
      resized: () => this.#guard(() => this.#draw()),
      ended: () => this.#resolve(undefined),
    });
    this.#guard(() => {
      this.#draw();
      return this.#find(world.scope);
    });
  }

  close(): void {
    this.#isOver = true;
    this.#search.abort();
    this.#contentSearch.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#screen.close();
  }

  /** Runs work. An error ends the picker and is thrown to the caller; aborted work ends silently. */
  #guard(work: () => unknown): void {
    const done = async () => {
      await work();
    };
    done().catch((error) => {
      if (!isSessionError(error, "ABORTED")) this.#reject(error);
    });
  }

  /** Schedules work for later. Until it has run, further calls with the same name have no effect. */
  #later(name: string, afterMs: number, work: () => unknown): void {
    if (this.#timers.has(name)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      this.#guard(work);
    }, afterMs);
    this.#timers.set(name, timer);
  }

  #pressed(text: string | undefined, key: Key): void {
    const pressed = toPickerKey(text, key);
    const page = makePickerLayout(this.#screen.rows).list;
    if (pressed !== undefined) this.#take({ kind: "key", key: pressed, page });
  }

  #take(event: PickerEvent): void {
    if (this.#isOver) return;
    const { state, task } = takeEvent(this.#state, event);
    this.#state = state;
    if (task !== undefined) this.#guard(() => this.#do(task));
    this.#draw();
  }

  async #do(task: PickerTask): Promise<void> {
    const { rename, remove } = this.#world;
    switch (task.kind) {
      case "choose":
        return this.#resolve(task.session);
      case "leave":
        return this.#resolve(undefined);
      case "find":
        this.#contentSearch.abort();
        return this.#find(task.scope);
      case "search":
        return this.#searchLater(task.query, task.scope);
      case "rename": {
        const { path, name } = task;
        return this.#change(() => rename(path, name), { kind: "renamed", path, name });
      }
      case "delete": {
        const { path } = task;
        return this.#change(() => remove(path), { kind: "deleted", path });
      }
    }
  }

  /** Changes a session; displays an error instead of throwing it. */
  async #change(change: () => Promise<unknown>, event: PickerEvent): Promise<void> {
    try {
      await change();
    } catch (error) {
      this.#take({ kind: "said", message: toPlainLine(getErrorMessage(error)) });
      return;
    }
    this.#take(event);
  }

  async #find(scope: PickerScope): Promise<void> {
    this.#search.abort();
    this.#search = new AbortController();
    const { signal } = this.#search;
    this.#found = [];
    for await (const session of this.#world.find(scope, signal)) {
      if (signal.aborted) return;
      this.#found.push(session);
      this.#later("found", FOUND_MS, () => this.#takeFound());
    }
    if (signal.aborted) return;
    this.#takeFound();
    this.#take({ kind: "complete" });
  }

  /** Starts a search after typing stops, replacing the previous search. */
  #searchLater(query: string, scope: PickerScope): void {
    this.#contentSearch.abort();
    clearTimeout(this.#timers.get("search"));
    this.#timers.delete("search");
    if (query !== "") this.#later("search", SEARCH_MS, () => this.#searchContents(query, scope));
    else this.#take({ kind: "searched", query });
  }

  async #searchContents(query: string, scope: PickerScope): Promise<void> {
    this.#contentSearch = new AbortController();
    const { signal } = this.#contentSearch;
    for await (const { path, line } of this.#world.search(query, scope, signal)) {
      if (signal.aborted) return;
      this.#take({ kind: "hit", query, path, line });
    }
    if (!signal.aborted) this.#take({ kind: "searched", query });
  }

  #takeFound(): void {
    const sessions = this.#found;
    this.#found = [];
    this.#take({ kind: "found", sessions });
  }

  #draw(): void {
    const { columns, rows } = this.#screen;
    const { colors, nowMs } = this.#world;
    this.#screen.draw(renderPicker(this.#state, { columns, rows, colors, nowMs: nowMs() }));
    if (this.#missingPreview() !== undefined) this.#later("preview", PREVIEW_MS, () => this.#readPreview());
  }

  /** Returns the path of the highlighted session if its last messages are unknown. */
  #missingPreview(): string | undefined {
    const path = findHighlighted(this.#state)?.path;
    return path === undefined || this.#state.previews.has(path) ? undefined : path;
  }

  #readPreview(): void {
    const path = this.#missingPreview();
    if (path === undefined) return;
    let lines: PreviewLine[];
    try {
      lines = this.#world.preview(path);
    } catch (error) {
      lines = [{ word: "", text: toPlainLine(getErrorMessage(error)) }];
    }
    this.#take({ kind: "preview", path, lines });
  }
}

function ignoreSignal(): void {
  // Placeholder until the promise is created.
}
