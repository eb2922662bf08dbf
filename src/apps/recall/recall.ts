import { basename, resolve } from "node:path";
import { findByName, getOnlyOne } from "../../catalog/list/resolve-session.ts";
import type { PriceFunction } from "../../catalog/usage/usage-groups.ts";
import { formatCount, joinNonempty as joinedBy } from "../../core/facts/number-text.ts";
import type { Opening } from "../../core/facts/opening.ts";
import { toShortLine } from "../../core/facts/plain-text.ts";
import { findOpening, findTitleText, getSessionTitle } from "../../core/facts/session-title.ts";
import { parseMoment } from "../../core/facts/times.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import { Answer, type Block, DEFAULT_BYTES, MAX_ANSWER_BYTES, MIN_ANSWER_BYTES } from "./answer.ts";
import {
  type Argument,
  type Arguments,
  countArgument,
  optionalText,
  requiredText,
  switchArgument,
} from "./argument.ts";
import { CallTime } from "./call-time.ts";
import { Cleaner, type HideSecrets } from "./cleaner.ts";
import { withoutRecalled } from "./echo.ts";
import { RecalledSession } from "./recalled-session.ts";
import { isUnreadable, type SessionSource } from "./session-source.ts";

/** Tool that queries past sessions; one per file. */
export interface RecallTool {
  readonly name: string;
  readonly title: string;
  /** Purpose of the tool, and when to call it. */
  readonly description: string;
  readonly arguments: readonly Argument<unknown>[];
  /**
   * Adds the results of a call to its answer; throws if an argument is invalid, or if a given session or entry does not exist.
   */
  run(recall: Recall, call: Arguments, answer: Answer): Promise<void>;
}

/** Source of the sessions, and defaults for calls. */
export interface RecallSettings {
  readonly source: SessionSource;
  /** Folder against which relative paths are resolved; answers omit it for sessions of its project. */
  readonly cwd: string;
  /** Default project for calls; undefined for all projects. */
  readonly project: string | undefined;
  readonly env: { readonly [name: string]: string | undefined };
  /** Undefined if secrets are not hidden. */
  readonly hide: HideSecrets | undefined;
  readonly now: () => number;
  readonly prices: PriceFunction | undefined;
}

/** Signal that cancels a call, and the ids of the calling session, if its program specifies them. */
export interface CallOrigin {
  readonly signal?: AbortSignal | undefined;
  readonly caller?: readonly string[];
}

/** Parts that a call either shares with another call or replaces with its own. */
interface RecallParts {
  readonly time?: CallTime;
  readonly cleaner?: Cleaner;
  readonly caller?: readonly string[];
}

/** Argument that names a session. */
export const SESSION = requiredText(
  "session",
  "id of the session or the beginning of it, its name, or words of it",
);
/** Argument that specifies another project. */
export const PROJECT = optionalText("project", "folder of another project; default: the current one");
/** Argument that selects all projects. */
export const ALL = switchArgument("all", "include the sessions of all projects");
/** Argument for the start of the period. */
export const SINCE = optionalText("since", "2026-11, 2026-11-23, 2026-11-23T12:00, or 7d for seven days ago");
/** Argument for the end of the period. */
export const UNTIL = optionalText("until", "as since; a month or a day is included");
/** Argument that limits the answer's size. */
export const MAX_BYTES = countArgument(["max_bytes", "maximum size of the answer, in bytes"], {
  min: MIN_ANSWER_BYTES,
  max: MAX_ANSWER_BYTES,
  fallback: DEFAULT_BYTES,
});

/** Maximum number of sessions that an error lists. */
const MAX_NAMED = 8;

const MAX_TITLE = 80;

/** Maximum number of entries that are cleaned to find the prompt for a title. */
const MAX_OPENING_ENTRIES = 250;

/** Shared state of all tools during one call. */
export class Recall {
  readonly settings: RecallSettings;
  readonly cleaner: Cleaner;
  readonly time: CallTime;
  /** Ids of the calling session, as specified by its program; empty if unspecified. */
  readonly caller: readonly string[];

  constructor(
    settings: RecallSettings,
    { time = new CallTime(), cleaner = new Cleaner(settings.hide), caller = [] }: RecallParts = {},
  ) {
    this.settings = settings;
    this.time = time;
    this.cleaner = cleaner;
    this.caller = caller;
  }

  /** Returns a copy for one call. */
  during({ signal, caller = [] }: CallOrigin): Recall {
    return new Recall(this.settings, { time: new CallTime(signal), cleaner: this.cleaner, caller });
  }

  /** Returns a copy for part of this call, with a time limit in milliseconds. */
  within(milliseconds: number): Recall {
    const { time, cleaner, caller } = this;
    return new Recall(this.settings, { time: time.within(milliseconds), cleaner, caller });
  }

  /** Creates an answer, which is cleaned, framed, and limited in size. */
  answer(maxBytes: number): Answer {
    return new Answer(maxBytes, this.cleaner);
  }

  list(cwd: string | undefined): Promise<readonly SessionRow[]> {
    return this.settings.source.list(cwd, this.time.signal);
  }

  /** Returns the project of a call; undefined for all projects. */
  getProject({ get }: Arguments): string | undefined {
    const { cwd, project } = this.settings;
    const named = get(PROJECT);
    if (named !== undefined) return resolve(cwd, named);
    return get(ALL) ? undefined : project;
  }

  /**
   * Reads the period of a call.
   *
   * @throws {TypeError} If a time cannot be parsed.
   */
  getTimes({ get }: Arguments): { readonly since?: Date; readonly until?: Date } {
    const read = (argument: Argument<string | undefined>) => {
      const text = get(argument);
      const found = text === undefined ? undefined : parseMoment(text, this.settings.now(), false);
      if (text === undefined || found !== undefined) return found;
      throw new TypeError(`${argument.name} must be a time: ${SINCE.schema["description"]}.`);
    };
    const [since, until] = [read(SINCE), read(UNTIL)];
    return {
      ...(since && { since: new Date(since.fromMs) }),
      ...(until && { until: new Date(until.toMs) }),
    };
  }

  async open(row: SessionRow): Promise<RecalledSession> {
    await this.time.rest();
    return new RecalledSession(row, await this.settings.source.read(row, this.time.signal), this);
  }

  /**
   * Opens the session that a call specifies: by id or name, the start of either, or words of its name or first message. A session
   * of this project takes precedence over others.
   */
  async find(name: string): Promise<RecalledSession> {
    const { cwd } = this.settings;
    const known = new Map((await this.list(undefined)).map((row) => [row.id, row]));
    const found = findByName([...known.values()], name.trim());
    // An error lists ids and titles, which are cleaned before they are cut.
    const ids = this.cleaner.cleanTexts(found.map(({ id }) => id));
    const titles = await Promise.all(found.slice(0, MAX_NAMED).map((row) => this.getTitle(row)));
    const shown = found.map((row, i) => ({ ...row, id: ids[i] ?? "", title: titles[i] ?? "", row }));
    const { row } = getOnlyOne(shown, name, {
      isHere: (one) => one.cwd === cwd,
      notFound: `No session ${JSON.stringify(name)}. Use an id from search_sessions.`,
    });
    return this.open(row);
  }

  async formatRow(row: SessionRow): Promise<string> {
    const { id, cwd, modified } = row;
    const place = cwd === this.settings.cwd ? "" : cwd;
    return joinFacts(`session ${id}`, await this.getTitle(row), formatMoment(modified.getTime()), place);
  }

  async getTitle(row: SessionRow): Promise<string> {
    const { name: stored = "", path, created, title: known } = row;
    // The row of a store has only the beginning, which may end in the middle of a secret.
    const message =
      this.cleaner.hidesSecrets && stored === ""
        ? await this.settings.source.readFirstMessage(row, this.time.signal)
        : (row.firstMessage ?? "");
    const isFirst = stored !== "" || path === undefined || findTitleText(known, message) !== undefined;
    if (!isFirst && this.cleaner.hidesSecrets) return this.#readTitle(row);
    if (!isFirst) return toShortLine(this.cleaner.cleanText(known), MAX_TITLE);
    const [name, firstMessage = ""] = this.cleaner.cleanTexts([stored, message]);
    const createdMs = created.getTime();
    const title = getSessionTitle({ name, firstMessage: withoutRecalled(firstMessage), createdMs });
    return toShortLine(title, MAX_TITLE);
  }

  /**
   * Creates the title of a session in a file from its cleaned entries, because the title in its row was truncated before it could
   * be cleaned. If the session cannot be read or does not begin with a prompt, the title is the file's name or the time.
   */
  async #readTitle(row: SessionRow): Promise<string> {
    const opening = await this.#readOpening(row);
    const fileName = this.cleaner.cleanText(basename(row.path ?? ""));
    return toShortLine(getSessionTitle({ opening, fileName, createdMs: row.created.getTime() }), MAX_TITLE);
  }

  /** Finds the opening of a session in its first entries; undefined if the session cannot be read. */
  async #readOpening(row: SessionRow): Promise<Opening | undefined> {
    try {
      const session = await this.open(row);
      const size = Math.min(session.tree.size, MAX_OPENING_ENTRIES);
      return findOpening({
        tree: { size, typeAt: (ordinal) => session.tree.typeAt(ordinal) },
        readEntries: (ordinals, take) => session.readEntries(ordinals, take),
      });
    } catch (error) {
      if (isUnreadable(error)) return undefined;
      throw error;
    }
  }
}

/** Writes facts on one line; omits empty facts. */
export function joinFacts(...facts: readonly string[]): string {
  return joinedBy(" · ", ...facts);
}

/** Writes a time in UTC, to the minute; empty if it is invalid. */
export function formatMoment(timeMs: number): string {
  return Number.isNaN(timeMs) ? "" : `${new Date(timeMs).toISOString().slice(0, 16).replace("T", " ")}Z`;
}

/** Formats an entry's time, or its session's time if the entry has no time and is therefore read as the epoch. */
export function formatEntryTime(timeMs: number | undefined, { modified }: SessionRow): string {
  return formatMoment(timeMs || modified.getTime());
}

/** Arguments that select a page of results. */
export interface PageArguments {
  readonly limit: Argument<number>;
  readonly cursor: Argument<number>;
}

/** Creates the arguments that select a page of a tool's results. */
export function pageArguments(
  counted: string,
  { max, fallback }: { readonly max: number; readonly fallback: number },
): PageArguments {
  return {
    limit: countArgument(["limit", `maximum number of ${counted}`], { min: 1, max, fallback }),
    cursor: countArgument(["cursor", `number of ${counted} to skip, to continue an earlier answer`], {
      max: 10_000,
      fallback: 0,
    }),
  };
}

/** Adds as much of the requested page of results as fits, and a note on how to continue. */
export async function addPage<T>(
  answer: Answer,
  { get }: Arguments,
  { limit, cursor }: PageArguments,
  found: readonly T[],
  makeBlock: (one: T) => Block | Promise<Block>,
): Promise<void> {
  let next = get(cursor);
  for (const one of found.slice(next, next + get(limit))) {
    if (!answer.addBlock(await makeBlock(one))) break;
    next++;
  }
  if (next < found.length)
    answer.note(`${formatCount(found.length - next)} more. To continue: {"cursor": ${next}}`);
}

/** Results that an answer shows. */
interface Shown {
  readonly shown: number;
  readonly isMore: boolean;
  /** Number of examined results, which the next answer skips. */
  readonly next: number;
}

/** Adds blocks as they are found, until the requested number is shown or no more fit; skips undefined blocks. */
export async function addFound<T>(
  answer: Answer,
  { get }: Arguments,
  { limit, cursor }: PageArguments,
  found: AsyncIterable<T> | Iterable<T>,
  makeBlock: (one: T) => Promise<Block | undefined>,
): Promise<Shown> {
  const [skipped, max] = [get(cursor), get(limit)];
  let [next, shown] = [0, 0];
  for await (const one of found) {
    if (next >= skipped) {
      const block = await makeBlock(one);
      if (block !== undefined) {
        if (shown >= max || !answer.addBlock(block)) return { shown, isMore: true, next };
        shown++;
      }
    }
    next++;
  }
  return { shown, isMore: false, next };
}
