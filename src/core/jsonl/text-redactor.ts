import { parseJson } from "./decode.ts";
import { unescapeText, unescapeTimes } from "./escaped-text.ts";
import {
  decodeString,
  encodeTree,
  type FieldNode,
  type JsonNode,
  type ParentNode,
  parseTree,
  type RecordNode,
  type TextNode,
  walkStrings,
} from "./json-tree.ts";
import {
  getFieldZone,
  getItemZone,
  getLineZone,
  isBase64,
  isFormatName,
  isSignedField,
  type Zone,
} from "./redaction-zones.ts";

/** Start and end of a match. */
export type Match = readonly [start: number, end: number];

/** String or regular expression to search for. Matches are never empty. */
export interface TextPattern {
  /** Whether every match is the same string. */
  readonly isLiteral: boolean;
  /** Returns whether any of the strings contains a match. */
  hasMatch(texts: readonly string[]): boolean;
  /** Returns the matches in a string, in order, without overlap. */
  findMatches(text: string): readonly Match[];
}

/** Creates a pattern for a literal string, which must not be empty. */
export function makeLiteralPattern(wanted: string): TextPattern {
  return {
    isLiteral: true,
    hasMatch: (texts) => texts.some((text) => text.includes(wanted)),
    findMatches: (text) => {
      const found: Match[] = [];
      for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
        found.push([at, at + wanted.length]);
      }
      return found;
    },
  };
}

/** Line after a redaction. */
export interface RedactedLine {
  /** The line after the redaction; the same string if nothing changed. */
  readonly text: string;
  /** Names of the fields that still contain the text, because the session could not be read without them. */
  readonly standing: readonly string[];
}

/** Array or object that is being redacted. */
interface Open {
  readonly node: ParentNode;
  readonly zone: Zone;
  next: number;
  isChanged: boolean;
  /** Nested objects, except those in arrays, that contain signatures of this object's content. */
  readonly signed: RecordNode[];
}

const LIST_OR_OBJECT = /^\s*[[{]/;

/** Characters appended to a name to distinguish it from an existing name. */
const SUFFIXES = ["_", "*", "."];

/**
 * Redacts text in lines, in any position, with or without escapes.
 *
 * Compares decoded strings and field names, JSON inside strings, and every string with its escapes decoded as often as possible.
 * Removes signatures of changed content. Keeps ids, types, and times.
 */
export class TextRedactor {
  readonly #pattern: TextPattern;
  readonly #replacement: string;
  readonly #names = new Map<string, boolean>();

  /** @param replacement - Must not contain the text. */
  constructor(pattern: TextPattern, replacement: string) {
    this.#pattern = pattern;
    this.#replacement = replacement;
  }

  /** Returns whether a string contains the text, with or without escapes. */
  hasMatch(text: string): boolean {
    return this.#pattern.hasMatch(addSpellings(text, []));
  }

  /** Redacts a line, which may be a record or other bytes. */
  ofLine(line: string): RedactedLine {
    if (this.#pattern.isLiteral && !this.#maySpell(line)) return { text: line, standing: [] };
    const tree = parseJsonTree(line);
    if (!this.#pattern.hasMatch(tree === undefined ? addSpellings(line, []) : collectSpellings(tree, [])))
      return { text: line, standing: [] };
    // A line break in the replacement must not end the line.
    if (tree?.kind !== "record") return { text: this.#ofText(line, 1), standing: [] };
    const standing = new Set<string>();
    const isChanged = this.#ofTree(tree, getLineZone(tree), standing);
    return { text: isChanged ? encodeTree(tree) : line, standing: [...standing] };
  }

  /** Returns whether a literal string may occur in a line. Decoding all escapes also covers JSON nested in strings. */
  #maySpell(line: string): boolean {
    for (let one: string | undefined = line; one !== undefined; one = unescapeText(one)) {
      if (this.#pattern.hasMatch([one])) return true;
    }
    return false;
  }

  /** @param depth - Number of levels of escaping around the string. */
  #ofText(text: string, depth = 0): string {
    if (!this.hasMatch(text)) return text;
    const tree = parseJsonTree(text);
    const isInside = tree !== undefined && this.#ofTree(tree, "free", new Set());
    let out = isInside ? encodeTree(tree) : text;
    for (let times = 0; ; times++) {
      const spelled = unescapeTimes(out, times);
      if (spelled === undefined) break;
      const { starts } = spelled;
      const matches = this.#pattern.findMatches(spelled.text);
      const place = (at: number) => starts?.[at] ?? at;
      const found = matches.map(([start, end]) => [place(start), place(end)] as const);
      if (found.length > 0) out = replaceMatches(out, found, escapeText(this.#replacement, times + depth));
    }
    // A replacement may form another match with the text around it.
    return this.hasMatch(out) ? escapeText(this.#replacement, depth) : out;
  }

  /** Redacts the content of an array or object. Returns whether anything changed. */
  #ofTree(root: ParentNode, zone: Zone, standing: Set<string>): boolean {
    const open = [openNode(root, zone)];
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const at = top.next++;
      const { node } = top;
      if (node.kind === "list") {
        const item = node.items[at];
        if (item === undefined) this.#close(open);
        else if (item.kind === "text") this.#ofString(item, top, getItemZone(top.zone), "", standing);
        else if (item.kind !== "other") open.push(openNode(item, getItemZone(top.zone)));
        continue;
      }
      const field = node.fields[at];
      if (field === undefined) this.#close(open);
      else {
        const below = getFieldZone(top.zone, field.name, node);
        const { name, value } = field;
        if (value.kind === "text") this.#ofString(value, top, below, name, standing);
        else if (value.kind !== "other") open.push(openNode(value, below));
        this.#ofName(field, top, standing);
      }
      if (open.length === 0) return top.isChanged;
    }
    return false;
  }

  #ofString(node: TextNode, top: Open, zone: Zone, name: string, standing: Set<string>): void {
    const text = decodeString(node.spelling);
    if (zone === "image" && isBase64(text)) return;
    if (zone === "kept") {
      if (this.hasMatch(text)) standing.add(name || "kept data");
      return;
    }
    if (zone === "signature" && !this.hasMatch(text)) return;
    const redacted = this.#ofText(text);
    if (redacted === text) return;
    node.spelling = JSON.stringify(redacted);
    top.isChanged = true;
  }

  #ofName(field: FieldNode, top: Open, standing: Set<string>): void {
    const { name } = field;
    const isFound = this.#names.get(name) ?? this.hasMatch(name);
    this.#names.set(name, isFound);
    if (!isFound) return;
    if (top.zone === "kept" || isFormatName(name)) {
      standing.add(`the name ${name}`);
      return;
    }
    field.name = this.#ofText(name);
    top.isChanged = true;
  }

  /** Closes the innermost object or array. Removes signatures of changed content, and duplicate names. */
  #close(open: Open[]): void {
    const top = open.pop();
    if (top === undefined) return;
    const { node, zone, isChanged, signed } = top;
    if (node.kind === "record") {
      if (isChanged) this.#distinguishNames(node);
      if (zone === "block" && isChanged)
        dropFields(node, (name) => getFieldZone(zone, name, node) === "signature");
      if (zone === "raw" && node.fields.some(isSigned)) signed.push(node);
    } else if (isChanged) {
      node.items = node.items.filter((item) => item !== REMOVED);
      if (zone === "content") for (const block of node.items) dropItemStates(block);
    }
    const above = open.at(-1);
    if (above === undefined) {
      if (isChanged) for (const record of signed) dropFields(record, isSignedField);
      return;
    }
    above.isChanged ||= isChanged;
    if (zone !== "raw" || node.kind !== "record") return;
    if (above.node.kind === "record" && above.zone === "raw") above.signed.push(...signed);
    else if (isChanged && signed.length > 0) {
      // A provider would reject a part without its signature.
      if (above.node.kind === "list") above.node.items[above.next - 1] = REMOVED;
      else for (const record of signed) dropFields(record, isSignedField);
    }
  }

  /** Makes names unique, because redaction may have made two names equal. */
  #distinguishNames(node: RecordNode): void {
    const taken = new Set<string>();
    node.fields = node.fields.filter((field) => {
      const isTwice = taken.has(field.name) && field.name.includes(this.#replacement);
      const suffix = isTwice ? SUFFIXES.find((one) => !this.hasMatch(this.#replacement + one.repeat(2))) : "";
      if (suffix === undefined) return false;
      while (isTwice && taken.has(field.name)) field.name += suffix;
      taken.add(field.name);
      return !isTwice || !this.hasMatch(field.name);
    });
  }
}

/** Placeholder for a removed item until its array is closed. */
const REMOVED: JsonNode = { kind: "other", spelling: "" };

function openNode(node: ParentNode, zone: Zone): Open {
  return { node, zone, next: 0, isChanged: false, signed: [] };
}

/**
 * Adds a string and all its decoded forms to an array: the strings of any JSON in it, and the string with its escapes decoded.
 */
function addSpellings(text: string, found: string[]): string[] {
  const tree = parseJsonTree(text);
  if (tree !== undefined) collectSpellings(tree, found);
  found.push(text);
  for (let one = unescapeText(text); one !== undefined; one = unescapeText(one)) found.push(one);
  return found;
}

function collectSpellings(tree: ParentNode, found: string[]): string[] {
  for (const one of walkStrings(tree)) addSpellings(one, found);
  return found;
}

/** Parses a string that is a JSON array or object. */
function parseJsonTree(text: string): ParentNode | undefined {
  if (!LIST_OR_OBJECT.test(text) || parseJson(text) === undefined) return undefined;
  const tree = parseTree(text);
  return tree.kind === "list" || tree.kind === "record" ? tree : undefined;
}

function replaceMatches(
  text: string,
  matches: readonly (readonly [number, number])[],
  replacement: string,
): string {
  const parts: string[] = [];
  let at = 0;
  for (const [start, end] of matches) {
    parts.push(text.slice(at, start), replacement);
    at = end;
  }
  return parts.join("") + text.slice(at);
}

/** Escapes a string for use inside a JSON string, a given number of times. */
function escapeText(text: string, times: number): string {
  let out = text;
  for (let i = 0; i < times; i++) out = JSON.stringify(out).slice(1, -1);
  return out;
}

function isSigned({ name, value }: FieldNode): boolean {
  return value.kind === "text" && value.spelling !== '""' && isSignedField(name);
}

function dropFields(node: RecordNode, isDropped: (name: string) => boolean): void {
  node.fields = node.fields.filter(({ name }) => !isDropped(name));
}

/**
 * Removes the items of an answer that are stored in signature fields, because the provider requires either all of them or none.
 */
function dropItemStates(block: JsonNode): void {
  if (block.kind !== "record") return;
  block.fields = block.fields.filter(({ name, value }) => {
    const isState = value.kind === "text" && getFieldZone("block", name, block) === "signature";
    return !isState || !decodeString(value.spelling).startsWith("{");
  });
}
