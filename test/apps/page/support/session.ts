import type { LinkedSession } from "../../../../src/apps/page/model/entry-facts.ts";
import { findEntries, type SearchHit } from "../../../../src/apps/page/model/search.ts";
import { SessionEntries } from "../../../../src/apps/page/model/session-entries.ts";
import { makeSessionModel, type SessionModel } from "../../../../src/apps/page/model/session-model.ts";
import type { AnySessionEntry } from "../../../../src/core.ts";

/** A test's short form of an entry: its ID, its parent, and its fields; a string is a user message. */
export type Line = readonly [id: string, parentId: string | null, fields: object | string];

/** Creates the text of a session file. */
function sessionText(lines: readonly Line[]): string {
  const header = {
    type: "session",
    version: 3,
    id: "s",
    timestamp: "2026-02-03T09:00:00.000Z",
    cwd: "/projects/till",
  };
  const entries = lines.map(([id, parentId, fields], index) => {
    const timestamp = new Date(Date.UTC(2026, 1, 3, 9, index)).toISOString();
    const own = typeof fields === "string" ? said("user", fields) : fields;
    return { type: "message", id, parentId, timestamp, ...own };
  });
  return `${[header, ...entries].map((record) => JSON.stringify(record)).join("\n")}\n`;
}

/** Creates the model of a session. */
export function makeModel(lines: readonly Line[], known?: ReadonlyMap<string, LinkedSession>): SessionModel {
  return modelOfText(sessionText(lines), known);
}

/** Creates the model of a session file. */
export function modelOfText(
  text: string | Uint8Array,
  known?: ReadonlyMap<string, LinkedSession>,
): SessionModel {
  const entries = new SessionEntries(known ?? new Map());
  entries.append(typeof text === "string" ? new TextEncoder().encode(text) : text);
  entries.end();
  entries.readFacts();
  return makeSessionModel(entries, "s.jsonl");
}

/** Returns the hits of a search through a model. */
export function searchModel(model: SessionModel, text: string, from = 0): SearchHit[] {
  return [...findEntries(model, text, from)].flatMap(({ hits }) => hits);
}

/** Returns the entries of a model, in file order. */
export function getEntries({ tree, entryAt }: SessionModel): AnySessionEntry[] {
  return Array.from(tree.ordinals(), (ordinal) => entryAt(ordinal)).filter((entry) => entry !== undefined);
}

/** Creates the fields of a message entry. */
export function said(role: string, content: unknown, fields: object = {}): object {
  return { message: { role, content, timestamp: 0, ...fields } };
}

/** Creates a straight line of user messages with IDs `e0`, `e1`, …; all of them are tool results if `role` says so. */
export function straight(size: number, role = "user"): Line[] {
  return Array.from({ length: size }, (_, index): Line => {
    const parent = index === 0 ? null : `e${index - 1}`;
    return [`e${index}`, parent, said(role, [{ type: "text", text: `said ${index}` }])];
  });
}
