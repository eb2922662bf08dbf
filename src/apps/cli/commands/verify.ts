import { listBlobDigests } from "../../../core/context/blob-images.ts";
import { getMessageFields, toRecord } from "../../../core/context/entry-fields.ts";
import { makeAncestorTest } from "../../../core/facts/ancestry.ts";
import { isDamaged } from "../../../core/facts/damage.ts";
import { formatBytes, formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { isSessionError } from "../../../core/format/errors.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { toSafeString } from "../../../core/format/json.ts";
import { findStoredMessageProblems } from "../../../core/format/message-check.ts";
import { validateEntry } from "../../../core/format/validate.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { findSessionFiles } from "../../../session/files/session-files.ts";
import { Pace } from "../../../session/files/time-slices.ts";
import { realFileSystem } from "../../../session/fs/file-system.ts";
import { readBlobImage } from "../../../session/log/blob-images.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import type { Command, CommandCall } from "../command.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import type { NamedSession, SessionLocation } from "../named-session.ts";
import type { Output } from "../output.ts";
import { flag, optionalList, rare } from "../parameters.ts";
import { getScope, LATEST } from "../session-argument.ts";
import { toIssueJson } from "../session-json.ts";
import { warnOfSkipped } from "../skipped-files.ts";
import { formatFailures, UsageError } from "../usage-error.ts";
import { writeIndented, writeIssues } from "../view/facts.ts";

const SESSIONS = optionalList("[sessions...]", `the sessions to check; default: ${LATEST}`);
const ALL = flag("--all", "check the sessions of all projects, and print those with issues");
const SCHEMA = rare(flag("--schema", "also warn about entries that differ from the documented format"));

/** Difference from the documented format that is not considered damage. */
interface Warning {
  readonly line: number;
  readonly offset: number;
  readonly entry: string;
  readonly problems: readonly string[];
}

interface Verdict {
  readonly session: SessionView;
  readonly location: SessionLocation;
  readonly issues: readonly SessionIssue[];
  readonly warnings: readonly Warning[];
}

/** `sessiontree verify`: reads session files completely and reports issues. */
export const command: Command = {
  details: `Reads every entry and prints each issue with its line and byte offset; changes nothing. Exits with 1 if there is an issue, or a file is not a session. "damaged" marks files with illegible or misplaced lines, which lists mark with "!". With --dir and no session, it checks all sessions in the folder.`,
  parameters: [SESSIONS, ALL, SCHEMA],
  examples: [
    ["verify session.jsonl", "one file"],
    ["verify *.jsonl --json", "many files, one JSON object each"],
    ["verify --all", "check every session, and print those with issues"],
    ["verify @last --schema", "also what differs from the documented format"],
  ],
  run: async (call) => {
    const names = call.get(SESSIONS);
    if (call.get(ALL) || (call.dir !== undefined && names.length === 0)) return verifyAll(call, names);
    let exitCode: ExitCode = EXIT_CODES.ok;
    for (const name of names.length > 0 ? names : [LATEST])
      if ((await verifyOne(call, name)) !== "ok") exitCode = EXIT_CODES.failed;
    if (names.length === 0 && call.stored === undefined)
      call.note("Only the latest session of this project was checked; verify --all checks all sessions.");
    return exitCode;
  },
};

/** Result of checking a file. `damaged` is what lists and totals count; `issues` are other issues. */
type Outcome = "ok" | "issues" | "damaged" | "error";

/** Words for the number of files with each outcome but `ok`. */
const OUTCOME_WORDS: readonly (readonly [outcome: Outcome, word: string])[] = [
  ["damaged", "damaged"],
  ["issues", "with other issues"],
  ["error", "not readable as sessions"],
];

/** Checks all sessions; prints the sessions that have issues and their number. */
async function verifyAll(call: CommandCall, names: readonly string[]): Promise<ExitCode> {
  if (names.length > 0) throw new UsageError("Name sessions, or check all with --all, not both.");
  if (call.stored !== undefined) throw new UsageError("--all checks files; leave --store out.");
  const { files } = await findSessionFiles(getScope(call, true), warnOfSkipped(call), new Pace());
  const outcomes: Outcome[] = [];
  for (const { path } of files) outcomes.push(await verifyOne(call, path, true));
  const numbers = OUTCOME_WORDS.flatMap(([outcome, word]) => {
    const number = outcomes.filter((one) => one === outcome).length;
    return number === 0 ? [] : `${formatCount(number)} ${word}`;
  });
  call.note(`${formatCounted(files.length, "file")}: ${numbers.join(", ") || "no issues"}.`);
  return numbers.length === 0 ? EXIT_CODES.ok : EXIT_CODES.failed;
}

/** Checks one file; a file that is not a session does not prevent checking the others. */
async function verifyOne(call: CommandCall, name: string, isQuiet = false): Promise<Outcome> {
  const { out, json } = call;
  try {
    const verdict = await inspectSession(call, await call.findSession(name));
    const isOk = verdict.issues.length === 0;
    if (isQuiet && isOk) return "ok";
    if (json) out.json(toVerdictJson(verdict));
    else writeVerdict(verdict, out);
    if (isOk) return "ok";
    return isDamaged(verdict.issues) ? "damaged" : "issues";
  } catch (error) {
    if (!isSessionError(error)) throw error;
    const { code, message } = error;
    const [what, ...sessions] = formatFailures(error);
    if (json) out.json({ wanted: name, ok: false, error: { code, message } });
    else out.line([`${out.colors.red("ERROR")}  ${code}  ${what}`, ...sessions].join("\n"));
    return "error";
  }
}

async function inspectSession({ get }: CommandCall, named: NamedSession): Promise<Verdict> {
  const withSchema = get(SCHEMA);
  const { location } = named;
  const session = await named.read();
  const { tree, places } = session;
  const warnings: Warning[] = [];
  const compactions: [number, AnySessionEntry][] = [];
  session.readEntries(tree.ordinals(), (ordinal, entry) => {
    if (entry?.type === "compaction") compactions.push([ordinal, entry]);
    if (entry?.type === "message") checkMessage(session, ordinal, entry);
    if (entry !== undefined) checkImages(session, ordinal, entry);
    const validation = withSchema && entry !== undefined ? validateEntry(entry) : undefined;
    if (validation === undefined || validation.ok) return;
    const { line, offset } = places.at(ordinal);
    warnings.push({ line, offset, entry: tree.idAt(ordinal), problems: validation.problems });
  });
  if (compactions.length > 0) checkCompactions(session, compactions);
  return { session, location, issues: session.issues.sort((a, b) => a.offset - b.offset), warnings };
}

/** Reports a message from another SDK that was stored as if it were in this format. */
function checkMessage(session: SessionView, ordinal: number, entry: AnySessionEntry): void {
  const problems = findStoredMessageProblems(getMessageFields(entry));
  if (problems.length > 0) session.report("MESSAGE_FOREIGN", ordinal, problems.join("; "));
}

/** Reports missing image files, which oh-my-pi stores next to its sessions. */
function checkImages(session: SessionView, ordinal: number, entry: AnySessionEntry): void {
  const { path } = session;
  const { message, content } = toRecord(entry);
  for (const digest of [...listBlobDigests(toRecord(message)["content"]), ...listBlobDigests(content)]) {
    const isThere = path !== undefined && digest !== undefined && readBlobImage(realFileSystem, path, digest);
    if (!isThere) session.report("IMAGE_MISSING", ordinal, digest ?? "(its name is damaged)");
  }
}

/** Reports compactions whose first kept entry is not on the compaction's path. */
function checkCompactions(session: SessionView, compactions: readonly [number, AnySessionEntry][]): void {
  const isAncestor = makeAncestorTest(session.tree);
  for (const [ordinal, entry] of compactions) {
    const { firstKeptEntryId: keptId, retainedTail } = toRecord(entry);
    if (keptId === "") continue;
    // Compactions by another program may contain the kept messages.
    if ((keptId === undefined || keptId === null) && Array.isArray(retainedTail)) continue;
    const kept = typeof keptId === "string" ? session.tree.find(keptId) : NONE;
    if (kept === NONE || !isAncestor(kept, ordinal)) {
      session.report("KEPT_ENTRY_MISSING", ordinal, toSafeString(keptId));
    }
  }
}

function toVerdictJson({ location, session, issues, warnings }: Verdict): object {
  const { header, version, size, tree } = session;
  return {
    id: header?.id,
    ...location.json,
    ok: issues.length === 0,
    ...(!session.isEmpty && { version }),
    bytes: size,
    entryCount: tree.size,
    issues: issues.map(toIssueJson),
    ...(warnings.length > 0 && { warnings }),
  };
}

function writeVerdict({ location, session, issues, warnings }: Verdict, out: Output): void {
  const { colors } = out;
  const { tree, version, size } = session;
  const place = toPlainLine(location.text);
  const about = session.isEmpty
    ? `empty, ${formatBytes(size)}`
    : `${formatCounted(tree.size, "entry", "entries")}, version ${version}, ${formatBytes(size)}`;
  const facts = isDamaged(issues) ? `${about}, damaged` : about;
  const paint = isDamaged(issues) ? colors.red : colors.yellow;
  if (issues.length === 0) out.line(`${colors.green("OK")}  ${place}  (${facts})`);
  else out.line(`${paint(formatCounted(issues.length, "issue"))}  ${place}  (${facts})`);
  writeIssues(issues, out);
  for (const { line, offset, entry, problems } of warnings) {
    out.line(
      `  ${colors.yellow("warning")}: line ${line}, offset ${offset}, entry ${toPlainLine(entry.slice(0, 40))}`,
    );
    for (const problem of problems) writeIndented(problem, out);
  }
}
