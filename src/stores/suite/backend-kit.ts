import assert from "node:assert/strict";
import type { SessionFacts } from "../../catalog/session-facts.ts";
import { newEntryLine } from "../line-codec.ts";
import type { NewEntryLine, NewLine, SessionBackend, StoredLine } from "../session-backend.ts";
import { CWD, entryText, headerText, START_MS } from "./kit.ts";

/** Returns the facts of a session without entries. */
export const facts = (id: string): SessionFacts => ({
  id,
  cwd: CWD,
  name: null,
  parentSession: null,
  createdMs: START_MS,
  lastMessageMs: null,
  messageCount: 0,
  firstMessage: null,
});

/** Makes the line of a message's entry. */
export const line = (id: string, parentId: string | null = null, text = id): NewEntryLine =>
  newEntryLine(entryText(id, parentId, text), true);

async function* batches(...given: (readonly NewLine[])[]): AsyncGenerator<readonly NewLine[], void> {
  yield* given;
}

/** Makes a session of a header and lines. */
export const make = (backend: SessionBackend, id: string, ...lines: NewLine[]) =>
  backend.create(facts(id), batches([{ text: headerText(id) }], lines));

/** Reads all lines of a session, and checks each page. */
export async function linesOf(backend: SessionBackend, id: string, limit = 1_000): Promise<StoredLine[]> {
  const lines: StoredLine[] = [];
  for (;;) {
    const page = await backend.read(id, lines.at(-1)?.seq ?? 0, limit);
    assert.ok(page.lines.length <= limit, "a page holds no more lines than asked for");
    assert.ok(page.isEnd || page.lines.length > 0, "a page that is not the end holds a line");
    const [first] = page.lines;
    assert.ok((first?.seq ?? Infinity) > (lines.at(-1)?.seq ?? 0), "a page begins behind the one before");
    lines.push(...page.lines);
    if (page.isEnd) return lines;
  }
}

/** Reads the texts of all lines behind the header. */
export const textsOf = async (backend: SessionBackend, id: string) =>
  (await linesOf(backend, id)).slice(1).map(({ text }) => text);
