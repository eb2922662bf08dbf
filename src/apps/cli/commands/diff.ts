import { type BranchSide, diffBranches } from "../../../core/compaction/diff-branches.ts";
import { getExcerpt } from "../../../core/facts/excerpt.ts";
import { formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { getShortIdLength } from "../../../core/facts/short-id-length.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { isSessionError } from "../../../core/format/errors.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { openOverLog } from "../../../session/manager/session-manager.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import { getEntryKind, isConversation } from "../../text/entry-kind.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import type { Command, CommandCall } from "../command.ts";
import { argument, flag, optionalArgument } from "../parameters.ts";
import { isLikePath } from "../session-argument.ts";
import { fitColumn, truncateStart } from "../text/width.ts";
import { UsageError } from "../usage-error.ts";
import {
  formatExcerptLine,
  formatKindColumn,
  listIds,
  measureLongest,
  takeShortId,
} from "../view/entry-line.ts";

const SESSION = argument("<session>", "the session");
const X = optionalArgument(
  "[entry-x]",
  "the end of one branch: an id or the beginning of it, a label, or @leaf; default: the only other branch",
);
const Y = optionalArgument("[entry-y]", "the end of the other; default: @leaf");

const RECORDS = flag("--records", "also records of state, usage, and imports, which only programs read");

/** `sessiontree diff`: shows the differences between two branches of a session. */
export const command: Command = {
  details: `Prints the last entry that both branches share, the later entries of each branch, and the files that its tool calls read and modified. Records of state, usage, and imports are hidden unless --records is given; --json includes them.`,
  parameters: [SESSION, X, Y, RECORDS],
  examples: [
    ["diff @last", "from the leaf, and the only other branch"],
    ["diff @last @leaf works", "from the leaf, and the entry with this label"],
    ["diff session.jsonl 1a2b3c4d 5e6f --json", "as JSON, with complete entries"],
  ],
  run: async (call) => {
    const [name, end] = [call.get(SESSION), call.get(X)];
    if (end !== undefined && isLikePath(end)) throw makeTwoSessionsError(name, end);
    const view = await (await call.findSession(name)).read();
    const x = end === undefined ? findOtherEnd(view, name) : await findFirstEnd(call, view, name, end);
    const y = view.findEntry(call.get(Y) ?? "@leaf");
    const session = openOverLog(view.log, {});
    const diff = diffBranches(session, x, y);
    if (call.json) {
      call.out.json({
        commonAncestorId: diff.commonAncestorId,
        x: { entry: x, ...diff.x },
        y: { entry: y, ...diff.y },
      });
      return;
    }
    const length = call.out.isLaidOut
      ? getShortIdLength(listIds(view.tree))
      : measureLongest(listIds(view.tree));
    const ancestor = findShownAncestor(call, view, diff.commonAncestorId);
    if (ancestor === undefined) call.out.line("The branches have no entry in common.");
    else {
      call.out.line(call.out.colors.dim("The branches diverge after"));
      writeEntries(call, [ancestor], " ", length);
    }
    writeSide(call, x, diff.x, "-", length);
    writeSide(call, y, diff.y, "+", length);
  },
};

/** Returns the last common entry to show: if records are hidden, the last common entry in the conversation, if any. */
function findShownAncestor(
  { get }: CommandCall,
  view: SessionView,
  id: string | null,
): AnySessionEntry | undefined {
  const start = id === null ? NONE : view.tree.find(id);
  for (let at = start; at !== NONE; at = view.tree.parentAt(at)) {
    const entry = view.entryAt(at);
    if (entry !== undefined && (get(RECORDS) || isConversation(getEntryKind(entry)))) return entry;
  }
  return start === NONE ? undefined : view.entryAt(start);
}

/** Maximum number of branches listed if a session has several others. */
const MAX_BRANCHES = 5;

/**
 * Returns the end of the only branch besides the one that ends with the leaf.
 *
 * @throws {UsageError} If there is no other branch or, with a command for each, if there are several.
 */
function findOtherEnd(view: SessionView, name: string): string {
  const { tree, leaf } = view;
  const others = [...tree.leaves()].filter((ordinal) => ordinal !== leaf).reverse();
  const [only] = others;
  if (only === undefined) throw new UsageError("The session has only one branch.");
  if (others.length === 1) return tree.idAt(only);
  const length = getShortIdLength(listIds(tree));
  const session = quoteForShell(toPlainLine(name));
  const commands = others.slice(0, MAX_BRANCHES).map((ordinal) => {
    const id = quoteForShell(toPlainLine(takeShortId(tree.idAt(ordinal), length)));
    return `  sessiontree diff ${session} ${id}  # ${getExcerpt(view.entryAt(ordinal)).text}`;
  });
  const listed = others.length > MAX_BRANCHES ? `, the latest ${MAX_BRANCHES} of which are listed` : "";
  const message = `The session has ${others.length} other branches${listed}; name the entry that ends one.`;
  throw new UsageError(message, commands);
}

/** @throws {UsageError} If the argument identifies another session instead of an entry. */
async function findFirstEnd(
  call: CommandCall,
  view: SessionView,
  name: string,
  end: string,
): Promise<string> {
  try {
    return view.findEntry(end);
  } catch (error) {
    throw (await isSession(call, end)) ? makeTwoSessionsError(name, end) : error;
  }
}

async function isSession({ findSession }: CommandCall, name: string): Promise<boolean> {
  try {
    await (await findSession(name, "beginning")).read();
    return true;
  } catch (error) {
    if (!isSessionError(error)) throw error;
    return error.code === "SESSION_AMBIGUOUS";
  }
}

/** Creates the error for a second session given instead of an entry. */
function makeTwoSessionsError(...names: readonly string[]): UsageError {
  const copies = names.map((one) => quoteForShell(toPlainLine(one))).join(" ");
  return new UsageError(
    `diff compares two branches of one session. To join two copies of one, run: sessiontree merge ${copies} -o merged.jsonl`,
  );
}

function writeSide(call: CommandCall, id: string, side: BranchSide, mark: "-" | "+", length: number): void {
  const { get, out } = call;
  out.line();
  const shown = get(RECORDS)
    ? side.entries
    : side.entries.filter((entry) => isConversation(getEntryKind(entry)));
  const hidden = side.entries.length - shown.length;
  const number = shown.length === 0 ? "nothing" : formatCounted(shown.length, "entry", "entries");
  const heading = `${mark} ${number} only on the branch to ${takeShortId(id, length)}`;
  out.prose(heading, out.colors.bold);
  writeEntries(call, shown, mark, length);
  if (hidden > 0)
    out.prose(`  ${formatCounted(hidden, "record")} hidden; --records shows them`, out.colors.dim);
  writeFiles(call, "read", side.readFiles);
  writeFiles(call, "modified", side.modifiedFiles);
}

function writeEntries(
  { out }: CommandCall,
  entries: readonly AnySessionEntry[],
  mark: string,
  length: number,
): void {
  for (const entry of entries) {
    const word = formatKindColumn(out.colors, getEntryKind(entry));
    const id = out.colors.dim(fitColumn(takeShortId(entry.id, length), length));
    out.line(formatExcerptLine([mark, id, word], getExcerpt(entry, !out.isLaidOut), out));
  }
}

/** Width, in columns, of "modified" and the gap after it. */
const WHAT_WIDTH = 10;

function writeFiles({ out }: CommandCall, what: string, files: readonly string[]): void {
  for (const file of files)
    out.line(
      `  ${fitColumn(what, WHAT_WIDTH)}${truncateStart(toPlainLine(file), out.width - WHAT_WIDTH - 2)}`,
    );
}
