import { posix, win32 } from "node:path";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { formatCallTitle } from "../../../core/facts/excerpt.ts";
import { toShortLine } from "../../../core/facts/plain-text.ts";
import type { StoredCall } from "../../../core/facts/tool-calls.ts";
import { findCallEdits, findCallFiles } from "../../../core/facts/touched-files.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { toWellFormedText } from "../../../core/format/well-formed-text.ts";
import { toWellFormedValue } from "../../convert/well-formed-message.ts";
import {
  ACP_DETAIL,
  type AcpLocation,
  type AcpToolContent,
  type AcpToolKind,
  TOOL_KINDS,
} from "./acp-types.ts";
import { readBlock } from "./content-blocks.ts";

/** Facts about a call for a user interface. Facts that a message cannot contain are in the result's `details.acp`. */
export interface CallFacts {
  title?: string;
  kind?: AcpToolKind;
  content?: AcpToolContent[];
  locations?: AcpLocation[];
  rawOutput?: unknown;
}

/** Maximum length of a call's title, in UTF-16 code units. */
export const LONGEST_TITLE = 200;

/** Derives the facts to show about a call from its name and arguments. */
export function makeCallFacts(call: Pick<StoredCall, "name" | "input">, cwd: string) {
  const { name, input } = call;
  const locations = findCallFiles(call).flatMap(({ path }) => toAbsolute(cwd, path) ?? []);
  return {
    title: toShortLine(formatCallTitle(name, input), LONGEST_TITLE) || "(unnamed tool)",
    kind: guessToolKind(name),
    locations: [...new Set(locations)].map((path) => ({ path })),
  };
}

/** Returns the edits that a call requests, if the call specifies exactly one file. */
export function makeCallDiffs(
  { name, input }: Pick<StoredCall, "name" | "input">,
  cwd: string,
): AcpToolContent[] {
  const [file, second] = findCallFiles({ name, input });
  const path = file === undefined || second !== undefined ? undefined : toAbsolute(cwd, file.path);
  if (path === undefined) return [];
  return findCallEdits(input).map(({ before, after }) => ({
    type: "diff",
    path,
    oldText: before,
    newText: after,
  }));
}

/** Reads the facts about a call from an update or from `details`, ignoring anything that is not part of the protocol. */
export function readFacts(value: unknown): CallFacts {
  const { title, kind, content, locations, rawOutput } = toRecord(value);
  const known = TOOL_KINDS.find((one) => one === kind);
  return {
    ...(typeof title === "string" && title !== "" && { title: toWellFormedText(title) }),
    ...(known !== undefined && { kind: known }),
    ...(Array.isArray(content) && { content: content.flatMap((part) => readToolContent(part) ?? []) }),
    ...(Array.isArray(locations) && { locations: toArray(locations).flatMap(readLocation) }),
    ...(rawOutput !== undefined && rawOutput !== null && { rawOutput: toWellFormedValue(rawOutput) }),
  };
}

function readToolContent(part: unknown): AcpToolContent | undefined {
  const { type, content, path, oldText, newText, terminalId } = toRecord(part);
  switch (type) {
    case "content": {
      const block = readBlock(content);
      return block && { type, content: block };
    }
    case "diff": {
      if (typeof path !== "string" || typeof newText !== "string") return undefined;
      return { type, path, newText, ...(typeof oldText === "string" && { oldText }) };
    }
    case "terminal":
      return typeof terminalId === "string" ? { type, terminalId } : undefined;
    default:
      return undefined;
  }
}

function readLocation(value: unknown): AcpLocation[] {
  const { path, line } = toRecord(value);
  if (typeof path !== "string") return [];
  return [{ path, ...(isCount(line) && { line }) }];
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
}

/** Returns the data in a stored message's details that exists only in the protocol. */
export function getAcpDetails(message: unknown): JsonRecord {
  return toRecord(toRecord(toRecord(message)["details"])[ACP_DETAIL]);
}

const FROM_ROOT = /^(?:[/\\]|[A-Za-z]:[/\\])/;

/**
 * Converts a path from any operating system to an absolute path; undefined if that is not possible, for example if the path
 * begins with `~`.
 */
function toAbsolute(cwd: string, path: string): string | undefined {
  if (FROM_ROOT.test(path)) return path;
  if (!FROM_ROOT.test(cwd) || path.startsWith("~")) return undefined;
  return (cwd.startsWith("/") ? posix : win32).join(cwd, path);
}

/** Words in tool names, by the tool kind they indicate. */
const WORDS: readonly (readonly [kind: AcpToolKind, words: readonly string[]])[] = [
  ["think", ["think", "todo", "todos", "plan", "task"]],
  ["fetch", ["web", "fetch", "http", "url", "browser", "download"]],
  ["execute", ["bash", "shell", "exec", "execute", "command", "run", "terminal", "process"]],
  ["delete", ["delete", "remove", "rm"]],
  ["move", ["move", "rename", "mv"]],
  ["search", ["search", "grep", "glob", "find", "ls", "list"]],
  ["edit", ["edit", "write", "patch", "replace", "create", "insert", "update", "append"]],
  ["read", ["read", "view", "cat", "open", "get", "show", "load"]],
];

const KINDS: ReadonlyMap<string, AcpToolKind> = new Map(
  WORDS.flatMap(([kind, words]) => words.map((word) => [word, kind] as const)),
);

/** Infers a tool's kind from the first word in its name that indicates a kind. */
function guessToolKind(name: string): AcpToolKind {
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  const kinds = words.split(/[^a-z]+/).map((word) => KINDS.get(word));
  return kinds.find((kind) => kind !== undefined) ?? "other";
}
