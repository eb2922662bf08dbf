import { getExcerpt } from "../../../core/facts/excerpt.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { REDACTED_TEXT } from "../../../core/format/redact-entry.ts";
import { getEntryKind } from "../../text/entry-kind.ts";
import type { Command, CommandCall } from "../command.ts";
import { confirmChange, YES } from "../confirm.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import { findLeftovers } from "../leftover-files.ts";
import { changeSession } from "../named-session.ts";
import { flag, optionalArgument, rare, textOption } from "../parameters.ts";
import { truncateLine } from "../text/width.ts";
import { UsageError } from "../usage-error.ts";

const SESSION = optionalArgument("[session]", "the session; with --matching, default: all of this project");
const ENTRY = optionalArgument(
  "[entry]",
  "the entry: its id or the beginning of it, its label, or @leaf; not with --matching",
);
const TEXT = textOption("--text <text>", 'replacement text; default: "[redacted]"');
const MATCHING = textOption("--matching <text>", "redact this text wherever it occurs, instead of an entry");
const REGEX = rare(flag("--regex", "--matching is a regular expression"));
const ALL = flag("--all", "with --matching: in the sessions of all projects");
const DRY_RUN = flag("--dry-run", "with --matching: only show where the text occurs");

/** Maximum width, in columns, of the content displayed in the question. */
const EXCERPT_WIDTH = 60;

/** `sessiontree redact`: permanently removes an entry's content, or matching text, from sessions. */
export const command: Command = {
  details: `The only command that rewrites history. It removes the content of an entry: the entry keeps its id and position, a new entry records the redaction, and the old bytes are not kept.

With --matching, it replaces a text wherever it occurs, and nothing else: in every string and name in every entry, in JSON inside strings, in sessions forked from the given one and those that it was forked from, in their backups, and in the trash. Caches and browser pages that contain the text are deleted. Signatures of changed content are removed. Ids, types, times, and working directories do not change. It lists where the text occurs, and asks for confirmation. Then it reports what it redacted, where the text remains, and why. The exit code is 0 if the text remains nowhere. Backups change, too, so the text cannot be restored. Files of other programs are listed, but not changed.`,
  parameters: [SESSION, ENTRY, TEXT, MATCHING, REGEX, ALL, DRY_RUN, YES],
  examples: [
    ["redact session.jsonl 1a2b3c4d", "asks for confirmation"],
    ["redact @last @leaf --text '(secret)' --yes", "does not ask, and inserts this text instead"],
    ["redact --matching hunter2 --all --dry-run", "where a text occurs, in all projects"],
    [
      "redact @last --matching sk-[A-Za-z0-9]{20,} --regex",
      "what looks like a key, in one session and its forks",
    ],
  ],
  run: async (call) => {
    const matching = call.get(MATCHING);
    if (matching === undefined) return redactEntry(call);
    if (call.get(ENTRY) !== undefined) throw new UsageError("Give an entry or --matching, not both.");
    // Loaded only with `--matching`, because redacting a single entry does not require a search.
    const { redactMatching } = await import("../redact-matching.ts");
    return redactMatching(call, {
      matching,
      isExpression: call.get(REGEX),
      session: call.get(SESSION),
      isAll: call.get(ALL),
      isDryRun: call.get(DRY_RUN),
      replacement: call.get(TEXT) ?? REDACTED_TEXT,
    });
  },
};

async function redactEntry(call: CommandCall): Promise<ExitCode> {
  const [name, entryName] = [call.get(SESSION), call.get(ENTRY)];
  if (name === undefined || entryName === undefined)
    throw new UsageError("Name a session and an entry, or give --matching and the text.");
  const only = [REGEX, ALL, DRY_RUN].find((one) => call.get(one));
  if (only !== undefined) throw new UsageError(`${only.form} requires --matching.`);
  const named = await call.findSession(name);
  const session = await named.read();
  const entryId = session.findEntry(entryName);
  const text = call.get(TEXT) ?? REDACTED_TEXT;
  const entry = session.entryAt(session.tree.find(entryId));
  const what = toPlainLine(`${getEntryKind(entry).word} ${entryId}`);
  const said = truncateLine(getExcerpt(entry).text, EXCERPT_WIDTH);
  const question = `${what}: ${said}\nIts content will be lost permanently. Redact it?`;
  if (!(await confirmChange(call, question))) return EXIT_CODES.failed;
  const recordId = await changeSession(named, (opened) => opened.redactEntry(entryId, { replacement: text }));
  const leftovers = named.path === undefined ? [] : findLeftovers(named.path);
  if (call.json) {
    const facts = { entry: entryId, replacement: text, recordId, leftovers };
    call.out.json({ id: session.header?.id, ...named.location.json, ...facts });
  } else writeDone(call, what, text, recordId, leftovers);
  return EXIT_CODES.ok;
}

function writeDone(
  { out, note }: CommandCall,
  what: string,
  text: string,
  recordId: string,
  leftovers: readonly string[],
): void {
  const { colors } = out;
  out.line(`Redacted ${what}: its content is now "${toPlainLine(text)}".`);
  out.line(colors.dim(`Entry ${recordId} records it.`));
  if (leftovers.length > 0) {
    out.line(colors.yellow("\nThese may still contain the text; delete them if you do not need them:"));
    for (const leftover of leftovers) out.line(`  ${toPlainLine(leftover)}`);
  }
  note("Other entries and sessions may contain the same text: redact --matching removes it everywhere.");
}
