import { resolve } from "node:path";
import { fittingName, onlyOne } from "../../catalog/list/resolve-session.ts";
import type { PriceFunction } from "../../catalog/usage/usage-groups.ts";
import { joined as joinedBy } from "../../core/facts/number-text.ts";
import { beginningOf } from "../../core/facts/plain-text.ts";
import { titleOf } from "../../core/facts/session-title.ts";
import { parseMoment } from "../../core/facts/times.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import { type Answer, DEFAULT_BYTES, LEAST_BYTES, MOST_BYTES } from "./answer.ts";
import {
  type Argument,
  type Arguments,
  countArgument,
  optionalText,
  requiredText,
  switchArgument,
} from "./argument.ts";
import { cleanText, type HideSecrets } from "./clean.ts";
import { RecalledSession } from "./recalled-session.ts";
import { findRunningSession, type RunningSession } from "./running-session.ts";
import type { SessionSource } from "./session-source.ts";

/** What agents can ask of past sessions, and how: one of these per file. */
export interface RecallTool {
  readonly name: string;
  readonly title: string;
  /** What it answers, and when to ask. */
  readonly description: string;
  readonly arguments: readonly Argument<unknown>[];
  /** Adds what a call asks for to its answer; throws if an argument is wrong, or what is named is not there. */
  run(recall: Recall, call: Arguments, answer: Answer): Promise<void>;
}

/** Where questions are asked, and about what. */
export interface RecallSettings {
  readonly source: SessionSource;
  /** Folder where relative paths start; sessions of its project need no mention of it. */
  readonly cwd: string;
  /** The project whose sessions are meant where a call names none; undefined for all. */
  readonly project: string | undefined;
  readonly env: { readonly [name: string]: string | undefined };
  /** Undefined if nothing is to be hidden. */
  readonly hide: HideSecrets | undefined;
  readonly now: () => number;
  readonly prices: PriceFunction | undefined;
}

/** Names one session. */
export const SESSION = requiredText(
  "session",
  "id of the session or the beginning of it, its name, or words of it",
);
/** Names another project. */
export const PROJECT = optionalText("project", "folder of another project; default: the current one");
/** Asks for all projects. */
export const ALL = switchArgument("all", "look at the sessions of all projects");
/** Names the first time that counts. */
export const SINCE = optionalText("since", "2026-11, 2026-11-23, 2026-11-23T12:00, or 7d for seven days ago");
/** Names the time before which all is that counts. */
export const UNTIL = optionalText("until", "as since; a month or a day is included");
/** Bounds the answer. */
export const MAX_BYTES = countArgument(["max_bytes", "the most bytes of the answer"], {
  least: LEAST_BYTES,
  most: MOST_BYTES,
  fallback: DEFAULT_BYTES,
});

const MOST_OF_TITLE = 80;
const MOST_OF_MESSAGE = 800;

/** What all tools work with. */
export class Recall {
  readonly settings: RecallSettings;
  readonly hide: HideSecrets;

  constructor(settings: RecallSettings) {
    this.settings = settings;
    this.hide = settings.hide ?? ((text) => text);
  }

  get hidesSecrets(): boolean {
    return this.settings.hide !== undefined;
  }

  /** Returns the project that a call is about; undefined for all. */
  projectOf({ get }: Arguments): string | undefined {
    const { cwd, project } = this.settings;
    const named = get(PROJECT);
    if (named !== undefined) return resolve(cwd, named);
    return get(ALL) ? undefined : project;
  }

  /** @throws {TypeError} If a time cannot be read. */
  timesOf({ get }: Arguments): { readonly since?: Date; readonly until?: Date } {
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
    return new RecalledSession(row, await this.settings.source.read(row), this.hide);
  }

  /**
   * Opens the session that a call names: by id or name, the beginning of either, or words of its name or first message. One of this
   * project wins over others.
   */
  async find(name: string): Promise<RecalledSession> {
    const { source, cwd } = this.settings;
    const rows = new Map((await source.list(undefined)).map((row) => [row.id, row]));
    const known = [...rows.values()];
    const choice = {
      known,
      isHere: (row: SessionRow) => row.cwd === cwd,
      notFound: `No session ${JSON.stringify(name)}. Take an id as search_sessions writes it.`,
    };
    // An error lists titles, which are clean before they are cut.
    const found = fittingName(known, name.trim()).map((row) => ({ ...row, name: this.titleOf(row) }));
    const { id, ...row } = onlyOne(found, name, choice);
    return this.open(rows.get(id) ?? { id, ...row });
  }

  async running(): Promise<RunningSession> {
    const { source, project, env, now } = this.settings;
    return findRunningSession(await source.list(project), env, now());
  }

  cleanLine(text: string): string {
    return beginningOf(cleanText(text, this.hide), MOST_OF_MESSAGE);
  }

  lineOf(row: SessionRow): string {
    const { id, cwd, modified } = row;
    const place = cwd === this.settings.cwd ? "" : cwd;
    return joined(`session ${id}`, this.titleOf(row), timeText(modified.getTime()), place);
  }

  titleOf({ name = "", firstMessage = "" }: Pick<SessionRow, "name" | "firstMessage">): string {
    const clean = (text: string) => cleanText(text, this.hide);
    // Stores keep a beginning, which may end in the middle of a secret.
    const whole = firstMessage.length < 200 ? firstMessage : firstMessage.replace(/\s\S*$/, "");
    return beginningOf(titleOf({ name: clean(name), firstMessage: clean(whole) }), MOST_OF_TITLE);
  }
}

/** Writes facts in one line; empty ones are left out. */
export function joined(...facts: readonly string[]): string {
  return joinedBy(" · ", ...facts);
}

/** Writes a moment in UTC, to the minute; empty if it is none. */
export function timeText(timeMs: number): string {
  return Number.isNaN(timeMs) ? "" : `${new Date(timeMs).toISOString().slice(0, 16).replace("T", " ")}Z`;
}
