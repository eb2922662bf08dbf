import { getMessageFields } from "../../../core/context/entry-fields.ts";
import { type ContentPart, formatOutputTitle, getEntryContent } from "../../../core/facts/entry-content.ts";
import { formatToolCall } from "../../../core/facts/excerpt.ts";
import { formatBytes, formatCount } from "../../../core/facts/number-text.ts";
import { toPlainLine, toPlainText } from "../../../core/facts/plain-text.ts";
import {
  formatDateAndTime,
  formatIsoTime,
  formatSpan,
  getMessageTimeRange,
} from "../../../core/facts/times.ts";
import { findCall, findNextAnswer, findResults, type LocatedEntry } from "../../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import type { EntryTree } from "../../../core/tree/entry-tree.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import { countKinds, getEntryKind, isFailure, readKinds } from "../../text/entry-kind.ts";
import { formatImage, formatJson } from "../../text/stored-values.ts";
import { formatAnswer, formatUsage } from "../../text/usage-text.ts";
import type { Command, CommandCall } from "../command.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import { getLocationFact, type SessionLocation } from "../named-session.ts";
import { numberOption, optionalArgument } from "../parameters.ts";
import { makeFailuresCommand, SESSION_OR_LATEST as SESSION } from "../session-argument.ts";
import { choosePaint } from "../view/entry-line.ts";
import { type Facts, writeFacts } from "../view/facts.ts";

const ENTRY = optionalArgument("[entry]", "an entry: its id or the beginning of it, its label, or @leaf");
const TAIL = numberOption(
  "--tail <number>",
  "this many entries in full: the last ones on the path to the entry, or to the leaf",
);

const MAX_CHILDREN = 8;

/** `sessiontree show`: shows a session as a whole, or one entry in full. */
export const command: Command = {
  details: `An answer comes with its tokens, its cost and the results of its calls; a tool's result with its call and what that answer cost. After a result, a command or a failed answer, "next answer" names what the model said to it.`,
  parameters: [SESSION, ENTRY, TAIL],
  examples: [
    ["show @last", "what kind of session this is, and what is in it"],
    ["show session.jsonl @leaf", "the entry at the leaf"],
    ["show @last --tail 3", "the last three entries in full"],
    ["show session.jsonl 1a2b3c4d --json", "an entry as JSON"],
  ],
  run: async (call) => {
    const named = await call.findSession(call.get(SESSION));
    const session = await named.read();
    const [name, tail] = [call.get(ENTRY), call.get(TAIL)];
    if (name === undefined && tail === undefined) return showSession(call, session, named.location);
    const last = name === undefined ? session.leaf : session.tree.find(session.findEntry(name));
    return showEntries(call, session, session.pathTo(last, tail ?? 1));
  },
};

function showEntries(call: CommandCall, session: SessionView, ordinals: readonly number[]): ExitCode {
  const codes = ordinals.map((ordinal, i) => {
    if (i > 0 && !call.json) call.out.line("\n");
    return showEntry(call, session, ordinal);
  });
  return codes.find((code) => code !== EXIT_CODES.ok) ?? EXIT_CODES.ok;
}

function showSession(
  { get, out, json }: CommandCall,
  session: SessionView,
  location: SessionLocation,
): ExitCode {
  const { name, header, version, size, tree, leaf, labels } = session;
  const counts = countKinds(readKinds(session));
  const [first, last] = getMessageTimeRange(tree);
  const branches = [...tree.leaves()].length;
  const leafId = tree.size === 0 || leaf < 0 ? null : tree.idAt(leaf);
  const named = [...labels].map(([entryId, { label }]) => ({ entry: entryId, label }));
  const issues = session.issues.length;
  if (json) {
    const kinds = Object.fromEntries(counts.list().map(({ kind, number }) => [kind.word, number]));
    out.json({
      id: header?.id,
      ...location.json,
      name,
      cwd: header?.cwd,
      created: header?.timestamp,
      parentSession: header?.parentSession,
      version,
      bytes: size,
      entryCount: tree.size,
      kinds,
      branchCount: branches,
      leafId,
      labels: named,
      failureCount: counts.failed,
      issueCount: issues,
    });
    return EXIT_CODES.ok;
  }
  const facts: Facts = [
    ["name", name ?? ""],
    ["id", header?.id ?? ""],
    getLocationFact(location),
    ["size", `${formatBytes(size)}, version ${version}`],
    ["project", header?.cwd ?? ""],
    ["created", formatDateAndTime(Date.parse(header?.timestamp ?? ""))],
    ["entries", [formatCount(tree.size), counts.kinds].filter(Boolean).join(": ")],
    ["time", formatSpan(first, last)],
    ["branches", formatCount(branches)],
    ["forked from", header?.parentSession ?? ""],
    ["leaf", leafId ?? ""],
    ["labels", named.map(({ entry, label }) => `[${label}] on ${entry}`).join(", ")],
    [
      "failures",
      counts.failed === 0 ? "" : `${formatCount(counts.failed)}: ${makeFailuresCommand(get(SESSION))}`,
    ],
    ["issues", issues === 0 ? "" : `${formatCount(issues)}: sessiontree verify tells more`],
  ];
  writeFacts(facts, out);
  return EXIT_CODES.ok;
}

function showEntry({ out, json }: CommandCall, session: SessionView, ordinal: number): ExitCode {
  const { tree, labels, places } = session;
  const id = tree.idAt(ordinal);
  const entry = session.entryAt(ordinal);
  const head = tree.headAt(ordinal);
  if (json) {
    const { timestampMs, ...named } = head;
    out.json(entry ?? { ...named, timestamp: formatIsoTime(timestampMs) || null, isDamaged: true });
    return entry === undefined ? EXIT_CODES.failed : EXIT_CODES.ok;
  }
  const { colors } = out;
  const kind = getEntryKind(entry);
  const details = getEntryDetails(entry);
  const { line, offset } = places.at(ordinal);
  out.line(`${choosePaint(colors, kind.tone)(kind.word)}  ${toPlainLine(id)}`);
  const facts: Facts = [
    ["label", labels.get(id)?.label ?? ""],
    ["parent", head.parentId ?? "none"],
    ["children", formatChildren(tree, ordinal)],
    ["time", formatDateAndTime(head.timestampMs)],
    ["place", `line ${line}, offset ${offset}`],
    ...details.facts,
    ...(entry === undefined ? [] : formatCostFacts(session, { ordinal, entry })),
  ];
  writeFacts(facts, out);
  for (const { title, text, isError } of details.blocks) {
    out.line();
    if (title !== "") out.line(colors.bold(title));
    out.line(isError ? colors.red(text) : text);
  }
  return entry === undefined ? EXIT_CODES.failed : EXIT_CODES.ok;
}

/** Says in words what the answer cost that an entry is or belongs to, and what led to it and followed it. */
function formatCostFacts(session: SessionView, { ordinal, entry }: LocatedEntry): Facts {
  const idAt = (at: number) => session.tree.idAt(at);
  const call = findCall(session, ordinal);
  const called: Facts =
    call === undefined
      ? []
      : [
          ["call", `${formatToolCall(call.name, call.input)}, in ${idAt(call.ordinal)}`],
          ["called by", formatAnswer(call.entry)],
        ];
  const next = isFollowedByAnswer(entry) ? findNextAnswer(session, ordinal) : undefined;
  const { tokens, cost } = formatUsage(entry);
  const results = findResults(session, ordinal).map(
    (result) => `${idAt(result.ordinal)}${isFailure(result.entry) ? " (failed)" : ""}`,
  );
  return [
    ...called,
    ["tokens", tokens],
    ["cost", cost],
    ["results", results.join(", ")],
    [
      "next answer",
      next === undefined ? "" : [idAt(next.ordinal), formatAnswer(next.entry)].filter(Boolean).join(": "),
    ],
  ];
}

/** Tells whether a model reacts to an entry with its next answer: to a result, a command that it sees, and a failure. */
function isFollowedByAnswer(entry: AnySessionEntry): boolean {
  const { role, excludeFromContext } = getMessageFields(entry);
  if (role === "bashExecution") return excludeFromContext !== true;
  return role === "toolResult" || isFailure(entry);
}

function formatChildren(tree: EntryTree, ordinal: number): string {
  const children = [...tree.children(ordinal)];
  const named = children.slice(0, MAX_CHILDREN).map((child) => tree.idAt(child));
  const others = children.length - named.length;
  return [...named, ...(others > 0 ? [`${formatCount(others)} more`] : [])].join(", ");
}

/** All that an entry holds; every text is harmless. */
interface EntryDetails {
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly blocks: readonly DetailBlock[];
}

interface DetailBlock {
  /** What it is; empty for the text that the entry is about. */
  readonly title: string;
  readonly text: string;
  readonly isError: boolean;
}

/** Longer values are no facts but blocks. */
const LONGEST_FACT = 60;

/**
 * Lays out what an entry holds: short values, what it says, and whatever else is stored; undefined stands for a damaged
 * body.
 */
function getEntryDetails(entry: AnySessionEntry | undefined): EntryDetails {
  const { parts, others } = getEntryContent(entry);
  const facts = others.filter(([, value]) => isFact(value));
  const long = others.filter(([, value]) => !isFact(value));
  const blocks = [
    ...parts.map(toDetailBlock),
    ...long.map(([title, value]) => toDetailBlock({ kind: "data", title, value })),
  ];
  return {
    facts: facts.map(([name, value]) => [toPlainLine(name), toPlainLine(String(value))]),
    blocks: blocks.map(({ isError, title, text }) => ({
      isError,
      title: toPlainLine(title),
      text: toPlainText(text),
    })),
  };
}

function isFact(value: unknown): boolean {
  if (typeof value === "string") return value.length <= LONGEST_FACT && !value.includes("\n");
  return value === null || typeof value !== "object";
}

function toDetailBlock(part: ContentPart): DetailBlock {
  const block = (title: string, text: string) => ({ title, text, isError: part.kind === "failure" });
  switch (part.kind) {
    case "text":
    case "note":
    case "failure":
      return block("", part.text);
    case "thinking":
      return block("thinking", part.isRedacted ? "(withheld)" : part.text);
    case "call":
      return block(`→ ${part.name}`, formatJson(part.input));
    case "image":
      return block("image", formatImage(part));
    case "output":
      // The name of a tool is among the facts.
      return block(part.of === "tool" ? "" : formatOutputTitle(part), part.text);
    case "data":
      return block(part.title, typeof part.value === "string" ? part.value : formatJson(part.value));
  }
}
