import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import type { LineSource } from "../../../core/jsonl/line-source.ts";
import type { MergeConflict } from "../../../core/merge/merge-plan.ts";
import type { MergeSide } from "../../../core/merge/merge-source.ts";
import { type MergeFilesResult, mergeCopies } from "../../../session/manager/merge-files.ts";
import type { Command, CommandCall } from "../command.ts";
import type { NamedSession } from "../named-session.ts";
import type { Output } from "../output.ts";
import { argument, flag, rare, textOption } from "../parameters.ts";
import { makeFilePath } from "../session-argument.ts";
import { toIssueJson } from "../session-json.ts";
import { wrapText } from "../text/width.ts";
import { UsageError } from "../usage-error.ts";
import { writeFacts, writeIndented, writeIssues } from "../view/facts.ts";

const FIRST = argument("<session-a>", "one copy of the session");
const SECOND = argument("<session-b>", "the other copy");
const OUTPUT = textOption("--output, -o <file>", "the new file for the merged session");
const IN_PLACE = flag(
  "--in-place",
  "replace the first copy; keeps its old bytes unless the merge redacts some of them",
);
const ANY_ID = rare(flag("--allow-different-ids", "merge them even if they are not copies of one session"));

/** `sessiontree merge`: merges two diverged copies of a session. */
export const command: Command = {
  details: `For a session that was continued on two machines, or a conflicted copy in a synced folder. The result contains every entry of both, and shared entries once; the order of the copies makes no difference. Different entries with the same id are both kept: one gets a new id. The copies do not change.`,
  parameters: [FIRST, SECOND, OUTPUT, IN_PLACE, ANY_ID],
  examples: [
    ["merge laptop.jsonl server.jsonl -o both.jsonl", "into a new file"],
    ["merge session.jsonl session-conflict.jsonl --in-place", "into the first, with a backup"],
  ],
  run: async (call) => {
    const { get, findKeptSession, findSession, io } = call;
    const output = get(OUTPUT);
    const isInPlace = get(IN_PLACE);
    if ((output === undefined) !== isInPlace) {
      throw new UsageError("Name the target: add either -o and a file, or --in-place.");
    }
    const allowDifferentIds = get(ANY_ID);
    const a = await (isInPlace ? findKeptSession : findSession)(get(FIRST));
    const b = await findSession(get(SECOND));
    if (isInPlace && a.path === undefined) {
      throw new UsageError("A session in a database cannot be replaced by a merge; add -o and a file.");
    }
    const target = output === undefined ? { inPlace: true as const } : { to: makeFilePath(io.cwd, output) };
    const result = mergeCopies(await getCopy(a), await getCopy(b), { ...target, allowDifferentIds });
    if (call.json) call.out.json(toResultJson(result));
    else writeResult(call, result, a.location.text, b.location.text);
  },
};

/** Returns the path of a copy, or its lines if it is not in a file. */
async function getCopy(session: NamedSession): Promise<string | LineSource> {
  return session.path ?? (await session.read()).log;
}

function toResultJson({ sessionId, path, entries, conflicts, issues, ...result }: MergeFilesResult): object {
  return {
    id: sessionId,
    path,
    entryCount: entries,
    ...result,
    conflicts: conflicts.map(({ id, entries: now }) => ({
      entry: id,
      entries: now.map(({ id: entry, from }) => ({ entry, from })),
    })),
    issues: { a: issues.a.map(toIssueJson), b: issues.b.map(toIssueJson) },
  };
}

function writeResult({ get, out }: CommandCall, result: MergeFilesResult, a: string, b: string): void {
  const { path, backup, entries, onlyInA, onlyInB, inBoth, conflicts, headerDifferences, issues } = result;
  const { unredacted } = result;
  out.line(`${out.colors.green("Merged")}  ${toPlainLine(path)}`);
  writeFacts(
    [
      ["entries", formatCount(entries)],
      ["in both", formatCount(inBoth)],
      ["only in a", `${formatCount(onlyInA)}, ${a}`],
      ["only in b", `${formatCount(onlyInB)}, ${b}`],
      ["original", backup ?? ""],
    ],
    out,
  );
  if (get(IN_PLACE) && unredacted.a.length > 0)
    writeHeading(
      `No backup was kept: it would contain the content of ${formatCounted(unredacted.a.length, "redacted entry", "redacted entries")}.`,
      out,
    );
  else writeUnredacted("a", unredacted.a, out);
  writeUnredacted("b", unredacted.b, out);
  writeConflicts(conflicts, out);
  if (headerDifferences.length > 0) {
    writeHeading("The headers differ:", out);
    for (const { field, a: inA, b: inB, merged } of headerDifferences) {
      writeIndented(
        `${field}: ${formatValue(inA)} in a, ${formatValue(inB)} in b; ${formatValue(merged)} was used`,
        out,
      );
    }
  }
  writeSideIssues("a", issues.a, out);
  writeSideIssues("b", issues.b, out);
}

function writeUnredacted(side: MergeSide, { length }: readonly string[], out: Output): void {
  if (length === 0) return;
  const entries = formatCounted(length, "entry that is", "entries that are");
  writeHeading(`${side} still contains the content of ${entries} redacted now; redact it there, too.`, out);
}

function writeConflicts(conflicts: readonly MergeConflict[], out: Output): void {
  if (conflicts.length === 0) return;
  const number = formatCounted(
    conflicts.length,
    "id was used for different entries",
    "ids were used for different entries",
  );
  writeHeading(`${number}:`, out);
  for (const { id, entries } of conflicts) {
    out.line(`  ${toPlainLine(id)}`);
    for (const one of entries) {
      writeIndented(`${one.from === "both" ? "of both" : `of ${one.from}`}: ${one.id}`, out);
    }
  }
}

function writeSideIssues(side: MergeSide, issues: readonly SessionIssue[], out: Output): void {
  if (issues.length === 0) return;
  writeHeading(
    `${formatCounted(issues.length, "issue")} in ${side}; lines without an entry are not merged:`,
    out,
  );
  writeIssues(issues, out);
}

function writeHeading(text: string, out: Output): void {
  out.line();
  for (const line of wrapText(text, out.width)) out.line(out.colors.yellow(line));
}

function formatValue(value: unknown): string {
  return value === undefined ? "nothing" : encodeParsed(value);
}
