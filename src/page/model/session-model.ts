import { fieldsOf } from "../../context/entry-fields.ts";
import { textOf } from "../../context/message-parts.ts";
import {
  type AnySessionEntry,
  outcomeOf,
  readSession,
  type SessionHeader,
  type SessionIssue,
} from "../../core.ts";
import { excerptOf } from "../../view/excerpt.ts";
import { beginningOf } from "../../view/plain.ts";
import type { EmbeddedSession } from "./embedded-session.ts";
import { type LinkedSession, linkedSessions } from "./linked-sessions.ts";

/** Stands for "no entry" where an ordinal is expected. */
export const NONE = -1;

/** Characters of a title that is made of a prompt. */
const LONGEST_TITLE = 90;

/** A session as the page looks at it: entries by ordinal (their place in the file) and how they hang together. */
export interface SessionModel {
  readonly bytes: Uint8Array;
  readonly fileName: string;
  readonly header: SessionHeader | undefined;
  readonly version: number;
  /** The display name; undefined if nobody gave one. */
  readonly name: string | undefined;
  /** What a person calls it: the name, else its first prompt, else its folder or file. */
  readonly title: string;
  readonly entries: readonly AnySessionEntry[];
  readonly byId: ReadonlyMap<string, AnySessionEntry>;
  readonly ordinals: ReadonlyMap<string, number>;
  /** Parent of each entry; NONE for roots. */
  readonly parents: Int32Array;
  readonly children: readonly (readonly number[])[];
  readonly roots: readonly number[];
  /** All entries, parents before children. */
  readonly order: Int32Array;
  /** The entry that came last into the file of those at and below each entry that have no child. */
  readonly newestTip: Int32Array;
  /** Where the next entry would hang; NONE in an empty session. */
  readonly leaf: number;
  /** Labels in force, by ordinal. */
  readonly labels: ReadonlyMap<number, string>;
  /** Entries that say that a tool, a command or a model failed, in the order of the file. */
  readonly failures: readonly number[];
  /** Other sessions that entries name, by ordinal. */
  readonly linked: ReadonlyMap<number, readonly LinkedSession[]>;
  readonly issues: readonly SessionIssue[];
}

/**
 * Reads an embedded session.
 *
 * @remarks Cost: O(bytes).
 */
export function makeSessionModel({
  bytes,
  fileName,
  known,
}: Pick<EmbeddedSession, "bytes" | "fileName" | "known">): SessionModel {
  const { header, version, entries, leafId, issues } = readSession(bytes);
  const ordinals = new Map(entries.map(({ id }, ordinal) => [id, ordinal]));
  const links = linkEntries(entries, ordinals);
  const order = parentsFirst(links, entries.length);
  const bookkeeping = readBookkeeping(entries, ordinals, header?.title);
  return {
    bytes,
    fileName,
    header,
    version,
    entries,
    byId: new Map(entries.map((entry) => [entry.id, entry])),
    ordinals,
    ...links,
    order,
    newestTip: newestTips(links.parents, order),
    leaf: ordinals.get(leafId ?? "") ?? NONE,
    issues,
    failures: entries.flatMap((entry, ordinal) => (outcomeOf(entry) === "failed" ? ordinal : [])),
    linked: linkedSessions(entries, known),
    title: bookkeeping.name ?? (firstPrompt(entries) || folderOf(header) || fileName || "Session"),
    ...bookkeeping,
  };
}

function firstPrompt(entries: readonly AnySessionEntry[]): string {
  for (const entry of entries) {
    const isUsers = entry.type === "message" && fieldsOf(fieldsOf(entry)["message"])["role"] === "user";
    const prompt = isUsers ? excerptOf(entry).text : "";
    if (prompt !== "") return beginningOf(prompt, LONGEST_TITLE);
  }
  return "";
}

function folderOf(header: SessionHeader | undefined): string | undefined {
  return header?.cwd.split(/[/\\]/).findLast(Boolean);
}

interface Links {
  readonly parents: Int32Array;
  readonly children: number[][];
  readonly roots: number[];
}

/** Reading has decided already what every entry hangs on; here it only becomes numbers. */
function linkEntries(entries: readonly AnySessionEntry[], ordinals: ReadonlyMap<string, number>): Links {
  const parents = new Int32Array(entries.length).fill(NONE);
  const children: number[][] = entries.map(() => []);
  const roots: number[] = [];
  entries.forEach(({ parentId }, ordinal) => {
    const parent = parentId === null ? NONE : (ordinals.get(parentId) ?? NONE);
    parents[ordinal] = parent;
    (children[parent] ?? roots).push(ordinal);
  });
  return { parents, children, roots };
}

function parentsFirst({ children, roots }: Links, size: number): Int32Array {
  const order = new Int32Array(size);
  let filled = 0;
  for (const root of roots) order[filled++] = root;
  for (let at = 0; at < filled; at++) {
    for (const child of children[order[at] ?? NONE] ?? []) order[filled++] = child;
  }
  return order.subarray(0, filled);
}

function newestTips(parents: Int32Array, order: Int32Array): Int32Array {
  const newest = new Int32Array(parents.length).fill(NONE);
  for (let i = order.length - 1; i >= 0; i--) {
    const ordinal = order[i] ?? NONE;
    // Every child has told by now; who has heard of none is a tip.
    const tip = newest[ordinal] === NONE ? ordinal : (newest[ordinal] ?? ordinal);
    newest[ordinal] = tip;
    const parent = parents[ordinal] ?? NONE;
    if (parent !== NONE) newest[parent] = Math.max(newest[parent] ?? NONE, tip);
  }
  return newest;
}

/** Labels and name: the latest in the file counts. */
function readBookkeeping(
  entries: readonly AnySessionEntry[],
  ordinals: ReadonlyMap<string, number>,
  title: string | undefined,
) {
  const labels = new Map<number, string>();
  let name = title?.trim() || undefined;
  for (const entry of entries) {
    const fields = fieldsOf(entry);
    if (entry.type === "session_info") name = textOf(fields["name"]).trim() || undefined;
    if (entry.type === "title_change") name = textOf(fields["title"]).trim() || undefined;
    const target = entry.type === "label" ? ordinals.get(textOf(fields["targetId"])) : undefined;
    if (target === undefined) continue;
    const label = textOf(fields["label"]);
    if (label === "") labels.delete(target);
    else labels.set(target, label);
  }
  return { labels, name };
}

/** Gives the ordinals root → entry; empty for NONE. */
export function pathTo({ parents }: Pick<SessionModel, "parents">, ordinal: number): number[] {
  const path: number[] = [];
  // The tree that reading gives has no cycle.
  for (let at = ordinal; at !== NONE; at = parents[at] ?? NONE) path.push(at);
  return path.reverse();
}

/** Gives the entries that begin at the same place as an entry, itself among them, in the order of the file. */
export function siblingsOf({ parents, children, roots }: SessionModel, ordinal: number): readonly number[] {
  const parent = parents[ordinal] ?? NONE;
  return parent === NONE ? roots : (children[parent] ?? []);
}
