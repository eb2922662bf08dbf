import type { JsonRecord } from "../../../core/format/json.ts";
import { getMember, type SourceRecord, toIsoTime, toNonemptyText } from "../source-text.ts";

/** A session's rows in Copilot's own database, which keeps them when the user rewinds. */
export interface CopilotRows {
  /** Rows of the `turns` table. */
  readonly turns: readonly JsonRecord[];
  /** Rows of the `assistant_usage_events` table, one for each call. */
  readonly calls: readonly JsonRecord[];
}

/** A turn that is missing from the events. */
export interface StoredTurn {
  readonly prompt: string;
  /** The last answer; undefined if the turn had no answer. */
  readonly answer: string | undefined;
  /** Time and tokens of the turn's calls. Fields are named as in events. */
  readonly calls: readonly { readonly time: string; readonly tokens: JsonRecord }[];
  /** Start times of the previous turn and of this turn, ISO 8601. */
  readonly since: string;
  readonly begun: string;
  /** Latest possible time of the prompt, ISO 8601. */
  readonly until: string;
}

/** Returns the turns in the database that are missing from the events, earliest first. */
export function findTurnsWithoutEvents(
  rows: CopilotRows | undefined,
  records: readonly SourceRecord[],
): StoredTurn[] {
  if (rows === undefined) return [];
  const calls = rows.calls.flatMap((row) => {
    const time = parseSqliteTime(row["created_at"]);
    return time === undefined ? [] : [{ time, tokens: getTokens(row) }];
  });
  const rowsOfTurns = rows.turns.flatMap((row) => {
    const time = parseSqliteTime(row["timestamp"]);
    const [prompt, answer] = [toNonemptyText(row["user_message"]), toNonemptyText(row["assistant_response"])];
    return time === undefined ? [] : [{ prompt, answer, time }];
  });
  const prompts = collectPrompts(records);
  // A row is written when its turn ends, or when the next prompt arrives.
  let [written, since] = ["", ""];
  return rowsOfTurns.sort(byTime).flatMap(({ prompt, answer, time }) => {
    const own = calls.filter((call) => call.time > written && call.time <= time).sort(byTime);
    const begun = own[0]?.time ?? written;
    const times = { since, begun: begun || time, until: own[0]?.time ?? time };
    [written, since] = [time, begun];
    if (prompt === undefined || takePrompt(prompts, prompt, times.until)) return [];
    return [{ prompt, answer, calls: own, ...times }];
  });
}

interface Timed {
  readonly time: string;
}

function byTime(one: Timed, other: Timed): number {
  return one.time < other.time ? -1 : 1;
}

/** Returns the times of prompts by prompt text, latest first. */
function collectPrompts(records: readonly SourceRecord[]): Map<string, string[]> {
  const prompts = new Map<string, string[]>();
  for (const { value } of records) {
    if (value["type"] !== "user.message" || value["agentId"] !== undefined) continue;
    const text = toNonemptyText(getMember(value, "data")["content"]) ?? "";
    prompts.set(text, [toIsoTime(value["timestamp"]) ?? "", ...(prompts.get(text) ?? [])]);
  }
  return prompts;
}

/** Removes the latest prompt that may belong to a turn, so that no other turn matches it. Returns false if there is none. */
function takePrompt(prompts: ReadonlyMap<string, string[]>, prompt: string, until: string): boolean {
  const times = prompts.get(prompt) ?? [];
  const at = times.findIndex((said) => said <= until);
  if (at !== -1) times.splice(at, 1);
  return at !== -1;
}

/** Parses a time in ISO 8601 or in SQLite's format, which is in UTC but does not include the time zone. */
function parseSqliteTime(time: unknown): string | undefined {
  const isPlain = typeof time === "string" && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(time);
  return toIsoTime(isPlain ? `${time.replace(" ", "T")}Z` : time);
}

function getTokens(row: JsonRecord): JsonRecord {
  return {
    model: row["model"],
    inputTokens: row["input_tokens"],
    outputTokens: row["output_tokens"],
    cacheReadTokens: row["cache_read_tokens"],
    cacheWriteTokens: row["cache_write_tokens"],
    reasoningTokens: row["reasoning_tokens"],
    apiEndpoint: row["api_endpoint"],
  };
}
