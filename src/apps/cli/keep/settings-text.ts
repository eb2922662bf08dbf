import { isDeepStrictEqual } from "node:util";
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { SettingsError } from "./settings-error.ts";

/** Name of the setting that contains hooks by event. */
const HOOKS = "hooks";

/** Element of an event's array of hooks. */
export interface HookEntry {
  readonly event: string;
  readonly value: JsonRecord;
}

/** Settings after adding hooks. */
export interface EditedSettings {
  readonly text: string;
  /** Paths of the objects and arrays that were added to contain the entries. */
  readonly made: readonly (readonly string[])[];
}

/**
 * Parses settings, with or without comments.
 *
 * @throws {SettingsError} If they do not parse to an object.
 */
export function parseSettings(text: string): JsonRecord {
  const value = readNode(parseDocument(text));
  if (!isJsonRecord(value)) throw new SettingsError("it is not a JSON object");
  return value;
}

/** Returns the elements of an event's hooks; empty if the event has no hooks. */
export function getHookValues(settings: JsonRecord, event: string): readonly unknown[] {
  return toArray(toRecord(settings[HOOKS])[event]);
}

/**
 * Adds hooks after the existing hooks; the rest remains as written.
 *
 * @throws {SettingsError} If the settings cannot be parsed, or contain another value where hooks are expected.
 */
export function addHooks(text: string, entries: readonly HookEntry[]): EditedSettings {
  const made: string[][] = [];
  let edited = text;
  for (const { event, value } of entries) {
    const root = parseDocument(edited);
    const hooks = findMember(root, HOOKS);
    const list = hooks && findMember(hooks, event);
    if (hooks === undefined) {
      made.push([HOOKS], [HOOKS, event]);
      edited = insertChild(edited, root, { [event]: [value] }, HOOKS);
    } else if (list === undefined) {
      if (hooks.type !== "object") throw new SettingsError(`"${HOOKS}" is not an object`);
      made.push([HOOKS, event]);
      edited = insertChild(edited, hooks, [value], event);
    } else {
      if (list.type !== "array") throw new SettingsError(`"${HOOKS}.${event}" is not an array`);
      edited = insertChild(edited, list, value);
    }
  }
  assertEqual(edited, toAdded(parseSettings(text), entries));
  return { text: edited, made };
}

/**
 * Removes hooks that are exactly as they were added, and then the objects and arrays in `made` that are empty.
 *
 * @throws {SettingsError} If the settings do not parse.
 */
export function removeHooks(
  text: string,
  entries: readonly HookEntry[],
  made: EditedSettings["made"],
): string {
  let edited = text;
  for (const { event, value } of entries) {
    const list = findPath(parseDocument(edited), [HOOKS, event]);
    const found = list?.children?.findLast((child) => isDeepStrictEqual(readNode(child), value));
    if (list?.type === "array" && found !== undefined) edited = removeChild(edited, list, found);
  }
  for (const path of [...made].sort((one, other) => other.length - one.length)) {
    const root = parseDocument(edited);
    const parent = findPath(root, path.slice(0, -1));
    const member = findPath(root, path);
    if (parent !== undefined && member?.parent !== undefined && member.children?.length === 0)
      edited = removeChild(edited, parent, member.parent);
  }
  assertEqual(edited, toRemoved(parseSettings(text), entries, made));
  return edited;
}

function parseDocument(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: false, allowTrailingComma: false });
  const [first] = errors;
  if (first !== undefined) {
    const line = text.slice(0, first.offset).split("\n").length;
    throw new SettingsError(`line ${line} does not parse (${printParseErrorCode(first.error)})`);
  }
  if (root?.type !== "object") throw new SettingsError("it is not a JSON object");
  return root;
}

/** Returns the value of a node, as plain objects. */
function readNode(node: Node): unknown {
  return JSON.parse(JSON.stringify(getNodeValue(node)));
}

/** Throws if an edit does not have the intended result. For example, programs may resolve duplicate names differently. */
function assertEqual(text: string, expected: JsonRecord): void {
  if (!isDeepStrictEqual(parseSettings(text), expected))
    throw new SettingsError("its hooks cannot be edited safely: a name in it may occur twice");
}

function toAdded(settings: JsonRecord, entries: readonly HookEntry[]): JsonRecord {
  let hooks = toRecord(settings[HOOKS]);
  for (const { event, value } of entries) hooks = { ...hooks, [event]: [...toArray(hooks[event]), value] };
  return { ...settings, [HOOKS]: hooks };
}

function toRemoved(
  settings: JsonRecord,
  entries: readonly HookEntry[],
  made: EditedSettings["made"],
): JsonRecord {
  const isMade = (...path: string[]) => made.some((one) => isDeepStrictEqual(one, path));
  if (!isJsonRecord(settings[HOOKS])) return settings;
  const hooks: { [event: string]: unknown } = { ...settings[HOOKS] };
  for (const { event, value } of entries) {
    const list = hooks[event];
    if (!Array.isArray(list)) continue;
    const at = list.findLastIndex((one) => isDeepStrictEqual(one, value));
    hooks[event] = list.filter((_, place) => place !== at);
  }
  const left = Object.entries(hooks).filter(
    ([event, list]) => !(isMade(HOOKS, event) && Array.isArray(list) && list.length === 0),
  );
  const { [HOOKS]: _, ...others } = settings;
  return left.length === 0 && isMade(HOOKS) ? others : { ...settings, [HOOKS]: Object.fromEntries(left) };
}

function findPath(root: Node, path: readonly string[]): Node | undefined {
  return path.reduce<Node | undefined>((node, name) => node && findMember(node, name), root);
}

/** Returns the value of a member; if several members have the same name, returns the value of the last, as parsers do. */
function findMember({ type, children = [] }: Node, name: string): Node | undefined {
  if (type !== "object") return undefined;
  return children.findLast(({ children: [key] = [] }) => key?.value === name)?.children?.[1];
}

/** Inserts a value after the last child of an object or array, in the layout of its siblings. */
function insertChild(text: string, parent: Node, value: unknown, name?: string): string {
  const last = parent.children?.at(-1);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /^([ \t]+)"/m.exec(text)?.[1] ?? "  ";
  const start = parent.offset + 1;
  const end = parent.offset + parent.length - 1;
  const front = last === undefined ? undefined : text.slice(start, parent.children?.[0]?.offset);
  const isLaidOut =
    front === undefined ? text.includes("\n") || parent.parent === undefined : /\n/.test(front);
  const indent = last === undefined ? getIndent(text, parent.offset) + unit : getIndent(text, last.offset);
  const json = isLaidOut ? JSON.stringify(value, null, unit) : JSON.stringify(value);
  const key = name === undefined ? "" : `${JSON.stringify(name)}: `;
  const child = key + json.replaceAll("\n", eol + indent);
  if (last !== undefined) {
    const at = last.offset + last.length;
    if (!isLaidOut) return `${text.slice(0, at)}, ${child}${text.slice(at)}`;
    // A comment at the end of a line refers to the text before it.
    const comment = /^[ \t]*\/(?:\/[^\r\n]*|\*[^\r\n]*?\*\/)/.exec(text.slice(at))?.[0] ?? "";
    return `${text.slice(0, at)},${comment}${eol}${indent}${child}${text.slice(at + comment.length)}`;
  }
  const inner = text.slice(start, end);
  // A comment keeps its position.
  const kept = inner.trim() === "" ? "" : inner.trimEnd();
  const around = isLaidOut ? [eol + indent, eol + getIndent(text, parent.offset)] : ["", ""];
  return text.slice(0, start) + kept + around[0] + child + around[1] + text.slice(end);
}

/** Returns the white space at the beginning of the line that contains an offset. */
function getIndent(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

/** Removes a child of an object or array together with its comma and white space; keeps comments. */
function removeChild(text: string, parent: Node, child: Node): string {
  const children = parent.children ?? [];
  const place = children.findIndex(({ offset }) => offset === child.offset);
  const previous = children[place - 1];
  const next = children[place + 1];
  const end = child.offset + child.length;
  const gap = text.slice(previous ? previous.offset + previous.length : parent.offset + 1, child.offset);
  // A line comment requires its line break, which must stay.
  const isAfterComment = /\/\/[^\n]*\n\s*$/.test(gap) && !/^[ \t]*\r?\n/.test(text.slice(end));
  const start = child.offset - (isAfterComment ? 0 : gap.length - gap.trimEnd().length);
  if (previous !== undefined) {
    const comma = findComma(text, previous.offset + previous.length);
    return text.slice(0, comma) + text.slice(comma + 1, Math.max(comma + 1, start)) + text.slice(end);
  }
  if (next !== undefined) {
    const comma = findComma(text, end);
    return text.slice(0, start) + text.slice(end, comma) + text.slice(comma + 1);
  }
  const close = parent.offset + parent.length - 1;
  const rest = text.slice(end, close);
  const isEmpty = rest.trim() === "" && start === parent.offset + 1;
  return text.slice(0, start) + (isEmpty ? "" : rest) + text.slice(close);
}

/** Returns the offset of the first comma outside comments, at or after an offset. */
function findComma(text: string, from: number): number {
  const between = /^(?:[^,/]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/.exec(text.slice(from))?.[0] ?? "";
  return from + between.length;
}
