import { basename, join } from "node:path";
import { toRecord } from "../../../core/context/entry-fields.ts";
import { getOrAdd } from "../../../core/format/group-by.ts";
import { toAbsolutePath } from "../../../session/log/session-paths.ts";
import { importCodex } from "../../import/codex/import-codex.ts";
import { readOldCodexText } from "../../import/codex/rollout.ts";
import {
  findFirstFolder,
  findFirstText,
  getMember,
  readSourceText,
  type SourceRecord,
  toNonemptyText,
} from "../../import/source-text.ts";
import { parseSourceFile, readSourceAsText, type SideFiles } from "../source-file.ts";
import type { FileFacts, KnownFile, SourceProgram } from "../source-program.ts";

/** Codex rollouts: plain, compressed, archived, or written by early versions. */
export const CODEX: SourceProgram = {
  name: "codex",
  folders: ({ CODEX_HOME: named }, home) => {
    const own = named ? toAbsolutePath(named) : join(home, ".codex");
    return [join(own, "sessions"), join(own, "archived_sessions")];
  },
  isOwn: (path) => (path.endsWith(".jsonl.zst") ? true : undefined),
  readFacts: (text, path) => readFacts((readOldCodexText(text) ?? readSourceText(text)).records, path),
  withoutCopies,
  beside: ({ files: all, beside }) => {
    const findTitle = makeTitleFinder(beside);
    return ({ path, facts }, files) => ({
      others: findBases(files, all),
      title: findTitle(path, facts.sessionId),
    });
  },
  read: ({ files, others, title }, { importedAt }) => {
    const imported = importCodex({
      rollouts: files.map(readRolloutText),
      others: others.map(readRolloutText),
      ...(title !== undefined && { title }),
      importedAt,
    });
    return imported === undefined ? [] : [imported];
  },
};

function readFacts(records: readonly SourceRecord[], path: string): FileFacts[] {
  const found = records.find(({ value }) => value["type"] === "session_meta");
  const meta = found === undefined ? toRecord(records[0]?.value) : getMember(found.value, "payload");
  const named = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json/.exec(basename(path))?.[1];
  const sessionId = toNonemptyText(meta["id"]) ?? named;
  if (sessionId === undefined) return [];
  const settings = records.find(({ value }) => value["type"] === "turn_context");
  return [
    {
      source: "codex",
      sessionId,
      cwd: findFirstFolder([meta["cwd"], settings && getMember(settings.value, "payload")["cwd"]]).cwd ?? "",
      startedAt: toNonemptyText(meta["timestamp"]) ?? findFirstText(records, "timestamp"),
      baseId: toNonemptyText(getMember(meta, "history_base")["thread_id"]),
      parentId: toNonemptyText(meta["parent_thread_id"]) ?? toNonemptyText(meta["forked_from_id"]),
    },
  ];
}

/** Omits archived or compressed copies of files. Of several copies in the same form, keeps the largest. */
function withoutCopies(files: readonly KnownFile[]): KnownFile[] {
  const best = new Map<string, KnownFile>();
  for (const file of files) {
    const name = basename(file.path).replace(/\.zst$/, "");
    const rival = best.get(name);
    if (rival === undefined || isBetter(file, rival)) best.set(name, file);
  }
  return [...best.values()];
}

function isBetter(one: KnownFile, other: KnownFile): boolean {
  const isPacked = ({ path }: KnownFile) => path.endsWith(".zst");
  if (isPacked(one) !== isPacked(other)) return isPacked(other);
  if (one.size !== other.size) return one.size > other.size;
  return !one.path.includes("archived_sessions") && other.path.includes("archived_sessions");
}

/** Finds the files of all threads that a thread continues, directly or indirectly. */
function findBases(files: readonly KnownFile[], all: readonly KnownFile[]): KnownFile[] {
  const found = new Set<KnownFile>();
  const waiting = [...files];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const { baseId, parentId } = file.facts;
    if (baseId === undefined && parentId === undefined) continue;
    for (const other of all) {
      if (files.includes(other) || found.has(other)) continue;
      const isNamed = [baseId, parentId].some(
        (id) => id !== undefined && (other.facts.sessionId === id || other.path.includes(id)),
      );
      if (!isNamed) continue;
      found.add(other);
      waiting.push(other);
    }
  }
  return [...found];
}

function readRolloutText(file: KnownFile) {
  const { path } = file;
  const old = path.endsWith(".json") ? readOldCodexText(readSourceAsText(path)) : undefined;
  return old === undefined ? parseSourceFile(file) : { path, ...old };
}

/** Returns a function that finds the name of a thread in the list next to the folder of its session. */
function makeTitleFinder(beside: SideFiles): (path: string, threadId: string) => string | undefined {
  const lists = new Map<string, ReadonlyMap<string, string>>();
  return (path, threadId) => {
    const home = /^(.*)[/\\](?:archived_)?sessions[/\\]/.exec(path)?.[1];
    if (home === undefined) return undefined;
    const list = join(home, "session_index.jsonl");
    return getOrAdd(lists, home, () => parseTitles(beside.getText(list))).get(threadId);
  };
}

function parseTitles(text: string): Map<string, string> {
  const titles = new Map<string, string>();
  for (const { value } of readSourceText(text).records) {
    const id = toNonemptyText(value["id"]);
    if (id !== undefined) titles.set(id, toNonemptyText(value["thread_name"]) ?? "");
  }
  return titles;
}
