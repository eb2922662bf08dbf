import { getMessageFields } from "../../../core/context/entry-fields.ts";
import { formatToolCall } from "../../../core/facts/excerpt.ts";
import { formatBytes, formatCount } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import {
  formatDateAndTime,
  formatIsoTime,
  formatSpan,
  getMessageTimeRange,
} from "../../../core/facts/times.ts";
import { findCall, findNextAnswer, findResults, type LocatedEntry } from "../../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { type EntryTree, NONE } from "../../../core/tree/entry-tree.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import { countKinds, getEntryKind, isConversation, isFailure, readKinds } from "../../text/entry-kind.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import { findTrunk } from "../../text/tree-rows.ts";
import { formatAnswer, formatUsage } from "../../text/usage-text.ts";
import type { Command, CommandCall } from "../command.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import { getLocationFact, type SessionLocation } from "../named-session.ts";
import { numberOption, optionalArgument } from "../parameters.ts";
import { makeFailuresCommand, SESSION_OR_LATEST as SESSION } from "../session-argument.ts";
import { UsageError } from "../usage-error.ts";
import { getEntryDetails, getTextBlocks, writeBlocks } from "../view/entry-blocks.ts";
import { choosePaint } from "../view/entry-line.ts";
import { type Facts, writeFacts } from "../view/facts.ts";

const ENTRY = optionalArgument("[entry]", "an entry: its id or the beginning of it, its label, or @leaf");
const TAIL = numberOption(
  "--tail <number>",
  "the last entries on the path to the entry or the leaf, in full",
);

const AFTER = numberOption("--after <number>", "the entry, and this many after it");
const BEFORE = numberOption("--before <number>", "the entry, and this many before it");

const MAX_CHILDREN = 8;

/** `sessiontree show`: displays an overview of a session, or one entry in full. */
export const command: Command = {
  details: `--after and --before show the entry in full, and the entries around it in short. They skip records of state, usage, and imports. --after follows the path to the leaf; on another branch, it follows the path to the newest end.

An answer is shown with its tokens, its cost, and the results of its calls; a tool result is shown with its call and the cost of the answer that made the call. After a result, a command, or a failed answer, "next answer" is the model's response.`,
  parameters: [SESSION, ENTRY, TAIL, AFTER, BEFORE],
  examples: [
    ["show @last", "an overview of the session"],
    ["show session.jsonl @leaf", "the entry at the leaf"],
    ["show @last --tail 3", "the last three entries in full"],
    ["show @last 1a2b3c4d --after 5", "for example, a failure and how it was fixed"],
    ["show session.jsonl 1a2b3c4d --json", "an entry as JSON"],
  ],
  run: async (call) => {
    const named = await call.findSession(call.get(SESSION));
    const session = await named.read();
    const [name, tail, after, before] = [call.get(ENTRY), call.get(TAIL), call.get(AFTER), call.get(BEFORE)];
    const isAround = after !== undefined || before !== undefined;
    if (isAround && name === undefined)
      throw new UsageError("Name the entry that --after and --before start at.");
    if (isAround && tail !== undefined) throw new UsageError("Give --tail, or --after and --before.");
    if (name === undefined && tail === undefined) return showSession(call, session, named.location);
    const last = name === undefined ? session.leaf : session.tree.find(session.findEntry(name));
    if (isAround) {
      const around = [
        ...listBefore(session, last, before ?? 0),
        last,
        ...listAfter(session, last, after ?? 0),
      ];
      return showEntries(call, session, around, last);
    }
    return showEntries(call, session, session.pathTo(last, tail ?? 1));
  },
};

/** Returns at most `max` conversation entries before an entry, in order. */
function listBefore(session: SessionView, ordinal: number, max: number): number[] {
  return takeConversation(session, max, ordinal, (at) => session.tree.parentAt(at)).reverse();
}

/** Returns at most `max` conversation entries after an entry, along the line drawn by `tree`. */
function listAfter(session: SessionView, ordinal: number, max: number): number[] {
  const { next } = findTrunk(session.tree, session.leaf);
  return takeConversation(session, max, ordinal, (at) => next[at] ?? NONE);
}

function takeConversation(
  session: SessionView,
  max: number,
  from: number,
  step: (ordinal: number) => number,
): number[] {
  const found: number[] = [];
  for (let at = step(from); at !== NONE && found.length < max; at = step(at))
    if (isConversation(getEntryKind(session.entryAt(at)))) found.push(at);
  return found;
}

/** @param asked - Requested entry, whose neighbors are shortened; undefined if all entries are requested. */
function showEntries(
  call: CommandCall,
  session: SessionView,
  ordinals: readonly number[],
  asked?: number,
): ExitCode {
  const codes = ordinals.map((ordinal, i) => {
    if (i > 0 && !call.json) call.out.line("\n");
    const isNeighbor = asked !== undefined && ordinal !== asked && !call.json;
    return isNeighbor ? showNeighbor(call, session, ordinal) : showEntry(call, session, ordinal);
  });
  return codes.find((code) => code !== EXIT_CODES.ok) ?? EXIT_CODES.ok;
}

function showSession(
  { get, toRunnable, out, json }: CommandCall,
  session: SessionView,
  location: SessionLocation,
): ExitCode {
  const { name, title, header, version, size, tree, leaf, labels } = session;
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
      title,
      cwd: header?.cwd,
      created: header?.timestamp,
      parentSession: header?.parentSession,
      ...(!session.isEmpty && { version }),
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
    name === undefined ? ["title", title] : ["name", name],
    ["id", header?.id ?? ""],
    getLocationFact(location),
    ["size", `${formatBytes(size)}, ${session.isEmpty ? "empty" : `version ${version}`}`],
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
      counts.failed === 0
        ? ""
        : toRunnable(`${formatCount(counts.failed)}: ${makeFailuresCommand(get(SESSION))}`),
    ],
    ["issues", issues === 0 ? "" : toRunnable(`${formatCount(issues)}: sessiontree verify shows more`)],
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
  writeBlocks(out, details.blocks);
  return entry === undefined ? EXIT_CODES.failed : EXIT_CODES.ok;
}

/** Writes an entry's text, shortened, and omits its other data. */
function showNeighbor(
  { get, toRunnable, out }: CommandCall,
  session: SessionView,
  ordinal: number,
): ExitCode {
  const { colors } = out;
  const entry = session.entryAt(ordinal);
  const id = toPlainLine(session.tree.idAt(ordinal));
  const { word, tone } = getEntryKind(entry);
  const cost = entry === undefined ? "" : formatUsage(entry).cost;
  const facts = [id, formatDateAndTime(session.tree.timeAt(ordinal)), cost].filter(Boolean).join("  ");
  out.line(`${choosePaint(colors, tone)(word)}  ${colors.dim(facts)}`);
  const name = quoteForShell(toPlainLine(get(SESSION)));
  if (writeBlocks(out, getTextBlocks(entry), true))
    out.line(colors.dim(toRunnable(`In full: sessiontree show ${name} ${id}`)));
  return entry === undefined ? EXIT_CODES.failed : EXIT_CODES.ok;
}

/** Formats facts about an entry's cost: its call and answer, its tokens and cost, its results, and the next answer. */
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

/** Returns whether a model's next answer responds to an entry: a result, a command that the model sees, or a failure. */
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
