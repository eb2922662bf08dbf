import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import type { FileSummary } from "./file-summary.ts";
import type { SessionSummary } from "./session-summary.ts";

/** What is known of one folder's files, by name. */
export type FolderSummaries = Map<string, FileSummary>;

const UNPAIRED = /\p{Surrogate}/u;

/** Whether a text stands behind the lists; UTF-8 cannot write every one. */
const isApart = (text: string | undefined) => text !== undefined && !UNPAIRED.test(text);

/**
 * Makes of summaries what is kept between runs: a list for each fact, with an item for each file, and a text.
 *
 * Of thousands of files that is read in half the time that an object for each takes; most of what there is to read are
 * first messages, which stand one behind the other in the text.
 */
export function columnsOf(summaries: FolderSummaries): { columns: object; text: string } {
  const files = [...summaries.values()];
  const sessions = files.map((file) => file.summary);
  const firstMessages = sessions.map((session) => session?.firstMessage);
  const columns = {
    name: [...summaries.keys()],
    size: files.map((file) => file.size),
    mtimeMs: files.map((file) => file.mtimeMs),
    ino: files.map((file) => file.ino),
    lastId: files.map((file) => file.end?.lastId ?? null),
    tail: files.map((file) => file.end?.tail ?? null),
    id: sessions.map((session) => session?.id ?? null),
    cwd: sessions.map((session) => session?.cwd ?? null),
    parentSession: sessions.map((session) => session?.parentSession ?? null),
    createdMs: sessions.map((session) => session?.createdMs ?? null),
    lastMessageMs: sessions.map((session) => session?.lastMessageMs ?? null),
    sessionName: sessions.map((session) => session?.name ?? null),
    messageCount: sessions.map((session) => session?.messageCount ?? null),
    issueCount: sessions.map((session) => session?.issueCount ?? null),
    // The length of a text that stands apart, else the text itself.
    firstMessage: firstMessages.map((text) => (isApart(text) ? text?.length : text) ?? null),
  };
  return { columns, text: firstMessages.filter(isApart).join("") };
}

/** Reads what `columnsOf` made; undefined if anything of it is not as it should be. */
export function readColumns(columns: unknown, text: string): FolderSummaries | undefined {
  const lists = isJsonRecord(columns) ? listsOf(columns) : undefined;
  if (lists === undefined) return undefined;
  const summaries: FolderSummaries = new Map();
  let start = 0;
  for (let i = 0; i < lists.name.length; i++) {
    const first = lists.firstMessage[i] ?? undefined;
    const end = start + (typeof first === "number" ? first : 0);
    const firstMessage = typeof first === "number" ? text.slice(start, end) : first;
    start = end;
    const id = lists.id[i] ?? undefined;
    const lastId = lists.lastId[i] ?? undefined;
    summaries.set(lists.name[i] ?? "", {
      size: lists.size[i] ?? 0,
      mtimeMs: lists.mtimeMs[i] ?? 0,
      ino: lists.ino[i] ?? 0,
      summary: id === undefined ? undefined : summaryAt(lists, i, id, firstMessage),
      end: lastId === undefined ? undefined : { lastId, tail: lists.tail[i] ?? "" },
    });
  }
  return start === text.length ? summaries : undefined;
}

function summaryAt(lists: Lists, i: number, id: string, firstMessage: string | undefined): SessionSummary {
  return {
    id,
    cwd: lists.cwd[i] ?? "",
    parentSession: lists.parentSession[i] ?? undefined,
    createdMs: lists.createdMs[i] ?? undefined,
    lastMessageMs: lists.lastMessageMs[i] ?? undefined,
    name: lists.sessionName[i] ?? undefined,
    messageCount: lists.messageCount[i] ?? 0,
    firstMessage,
    issueCount: lists.issueCount[i] ?? 0,
  };
}

type Lists = NonNullable<ReturnType<typeof listsOf>>;

/** Gives the lists; undefined if one is missing, is shorter or longer than others, or holds anything else. */
function listsOf(columns: JsonRecord) {
  const { name: names } = columns;
  const count = Array.isArray(names) ? names.length : 0;
  let areWhole = true;
  const list = <T>(key: string, isItem: (item: unknown) => item is T): readonly T[] => {
    const items: unknown = columns[key];
    if (Array.isArray(items) && items.length === count && items.every(isItem)) return items;
    areWhole = false;
    return [];
  };
  const lists = {
    name: list("name", isText),
    size: list("size", isNumber),
    mtimeMs: list("mtimeMs", isNumber),
    ino: list("ino", isNumber),
    lastId: list("lastId", isTextOrNull),
    tail: list("tail", isTextOrNull),
    id: list("id", isTextOrNull),
    cwd: list("cwd", isTextOrNull),
    parentSession: list("parentSession", isTextOrNull),
    createdMs: list("createdMs", isNumberOrNull),
    lastMessageMs: list("lastMessageMs", isNumberOrNull),
    sessionName: list("sessionName", isTextOrNull),
    messageCount: list("messageCount", isNumberOrNull),
    issueCount: list("issueCount", isNumberOrNull),
    firstMessage: list("firstMessage", isTextOrLength),
  };
  return areWhole ? lists : undefined;
}

const isText = (item: unknown) => typeof item === "string";
const isNumber = (item: unknown) => typeof item === "number";
const isTextOrNull = (item: unknown) => item === null || typeof item === "string";
const isNumberOrNull = (item: unknown) => item === null || typeof item === "number";
const isTextOrLength = (item: unknown) => isTextOrNull(item) || isNumber(item);
