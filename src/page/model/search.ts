import { textOf } from "../../context/message-parts.ts";
import type { AnySessionEntry } from "../../core.ts";
import { type ContentPart, contentOf, outputTitle } from "../../view/entry-content.ts";
import type { EntryKind } from "../../view/entry-kind.ts";
import { excerptOf } from "../../view/excerpt.ts";
import { prettyJson } from "../../view/pretty-json.ts";
import { kindAt, type SessionModel } from "./session-model.ts";
import { readColours } from "./terminal-colours.ts";

/** An entry in which a text was found. */
export interface SearchHit {
  readonly ordinal: number;
  /** The line around the first match: what stands before, the match, what stands behind. */
  readonly snippet: readonly [before: string, match: string, after: string];
}

/** Finds what is searched for in a text: all matches, in their order. */
export type Finder = (text: string) => readonly { readonly start: number; readonly length: number }[];

/** Makes the finder of a search; one that finds nothing if nothing is searched for. */
export function finderOf(query: string): Finder {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return () => [];
  return (text) => {
    const folded = text.toLowerCase();
    const found = [];
    for (let at = folded.indexOf(wanted); at !== -1; at = folded.indexOf(wanted, at + wanted.length))
      if (at + wanted.length <= text.length) found.push({ start: at, length: wanted.length });
    return found;
  };
}

/** Stands between the parts of an entry, so that a snippet ends where its part does. */
const SEPARATOR = "\u0000";

const BEFORE = 32;
const AFTER = 96;

/** What of an entry is searched. */
interface SearchedText {
  readonly plain: string;
  readonly folded: string;
  /** Where the entry's id begins, behind what it shows; its label follows. */
  readonly idAt: number;
}

/** Finds texts in all entries of a session, whatever case they are written in. */
export class SearchIndex {
  readonly #session: SessionModel;
  /** What was made searchable so far, by ordinal. */
  readonly #texts: SearchedText[] = [];

  constructor(session: SessionModel) {
    this.#session = session;
  }

  /**
   * Returns the entries that hold a text, in the order of the file.
   *
   * @param query - Any text; blanks around it do not count.
   * @returns Empty for an empty text.
   * @remarks Cost: O(characters of the session).
   */
  find(query: string): SearchHit[] {
    const wanted = query.trim().toLowerCase();
    if (wanted === "") return [];
    return this.#session.entries.flatMap((_, ordinal) => {
      const text = this.#textAt(ordinal);
      const at = text.folded.indexOf(wanted);
      return at === -1 ? [] : [{ ordinal, snippet: snippetAt(text, at, wanted.length) }];
    });
  }

  #textAt(ordinal: number) {
    const known = this.#texts[ordinal];
    if (known !== undefined) return known;
    const entry = this.#session.entries[ordinal];
    const label = this.#session.labels.get(ordinal) ?? "";
    const parts = entry === undefined ? [] : partsOf(entry, kindAt(this.#session, ordinal));
    const texts = parts.join(SEPARATOR);
    const plain = [texts, entry?.id ?? "", label].join(SEPARATOR);
    // Few characters change their length with their case; there a snippet may be off by a little.
    const made = { plain, folded: plain.toLowerCase(), idAt: texts.length + 1 };
    this.#texts[ordinal] = made;
    return made;
  }
}

/** What an entry shows; where that is only one line, the line. */
function partsOf(entry: AnySessionEntry, { tone }: EntryKind): string[] {
  const parts = contentOf(entry).parts.map(textOfPart);
  return tone === "quiet" || parts.length === 0 ? [excerptOf(entry).text, ...parts] : parts;
}

function textOfPart(part: ContentPart): string {
  switch (part.kind) {
    case "image":
      return "";
    case "call":
      return `${part.name}\n${inputText(part.input)}`;
    case "output":
      return `${outputTitle(part)}\n${readColours(part.text).plain}`;
    case "data":
      return `${part.title}\n${prettyJson(part.value)}`;
    default:
      return part.text;
  }
}

/** Arguments as the page shows them: texts as they are, the rest as JSON. */
function inputText(input: unknown): string {
  if (typeof input !== "object" || input === null) return textOf(input);
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : prettyJson(value)}`)
    .join("\n");
}

function snippetAt({ plain: text, idAt }: SearchedText, at: number, length: number): SearchHit["snippet"] {
  const tidy = (part: string) => part.replace(/\s+/g, " ");
  const first = text.lastIndexOf(SEPARATOR, at) + 1;
  const from = Math.max(first, at - BEFORE);
  const end = at + length;
  const last = text.indexOf(SEPARATOR, end);
  return [
    `${first === idAt ? "id " : ""}${from > first ? "…" : ""}${tidy(text.slice(from, at))}`,
    tidy(text.slice(at, end)),
    tidy(text.slice(end, Math.min(end + AFTER, last === -1 ? text.length : last))),
  ];
}
