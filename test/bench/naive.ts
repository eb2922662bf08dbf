import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** An entry in the plain implementation. */
export interface NaiveEntry {
  type: string;
  id: string;
  parentId: string | null;
  firstKeptEntryId?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the plain implementation checks nothing
  message?: any;
  name?: string;
}

/** A session read in the plainest correct way: every line parsed, a map by id. */
export interface NaiveSession {
  entries: NaiveEntry[];
  byId: Map<string, NaiveEntry>;
}

export function naiveOpen(path: string): NaiveSession {
  const entries: NaiveEntry[] = [];
  const byId = new Map<string, NaiveEntry>();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line === "") continue;
    const entry: NaiveEntry = JSON.parse(line);
    if (entry.type === "session") continue;
    entries.push(entry);
    byId.set(entry.id, entry);
  }
  return { entries, byId };
}

export function naivePath({ entries, byId }: NaiveSession): NaiveEntry[] {
  const path: NaiveEntry[] = [];
  for (let at = entries.at(-1); at; at = at.parentId === null ? undefined : byId.get(at.parentId))
    path.push(at);
  return path.reverse();
}

export function naiveContext(session: NaiveSession): unknown[] {
  const path = naivePath(session);
  const last = path.findLastIndex((entry) => entry.type === "compaction");
  const kept = last === -1 ? 0 : path.findIndex((entry) => entry.id === path[last]?.firstKeptEntryId);
  const selected = last === -1 ? path : [path[last], ...path.slice(kept, last), ...path.slice(last + 1)];
  return selected.flatMap((entry) => entry?.message ?? []);
}

export function naiveAppend(path: string, entry: object): void {
  appendFileSync(path, `${JSON.stringify(entry)}\n`);
}

export interface NaiveTreeNode {
  entry: NaiveEntry;
  children: NaiveTreeNode[];
}

export function naiveTree({ entries }: NaiveSession): NaiveTreeNode[] {
  const nodes = new Map(entries.map((entry) => [entry.id, { entry, children: [] as NaiveTreeNode[] }]));
  const roots: NaiveTreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = node.entry.parentId === null ? undefined : nodes.get(node.entry.parentId);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}

/** Lists a folder in the plainest correct way: every line of every file. */
export function naiveList(folder: string): object[] {
  return readdirSync(folder).map((name) => {
    const { entries } = naiveOpen(join(folder, name));
    const messages = entries.filter((entry) => entry.type === "message");
    return {
      name: entries.findLast((entry) => entry.type === "session_info")?.name,
      messageCount: messages.length,
      firstMessage: messages.find((entry) => entry.message.role === "user")?.message.content[0].text,
      modified: Math.max(...messages.map((entry) => entry.message.timestamp)),
    };
  });
}

export function naiveSearch(folder: string, text: string): number {
  let hits = 0;
  for (const name of readdirSync(folder)) {
    for (const entry of naiveOpen(join(folder, name)).entries) {
      for (const block of entry.message?.content ?? []) if (block.text?.includes(text)) hits++;
    }
  }
  return hits;
}
