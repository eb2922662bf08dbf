import { isSessionError } from "../../schema/errors.ts";
import { REDACTED_TEXT } from "../../schema/redact-entry.ts";
import { kindOf } from "../../view/entry-kind.ts";
import { excerptOf } from "../../view/excerpt.ts";
import { plainLine } from "../../view/plain.ts";
import { changeSession } from "../change-session.ts";
import type { Command, CommandCall } from "../command.ts";
import { confirm, YES } from "../confirm.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { leftoversOf } from "../leftovers.ts";
import { argument, flag, textOption } from "../parameters.ts";
import { findSameText, redactedTexts, type SameText } from "../same-text.ts";
import { SessionView } from "../session-view.ts";
import { truncate } from "../text/width.ts";

const SESSION = argument("<session>", "the session");
const ENTRY = argument("<entry>", "the entry: its id or the beginning of it, its label, or @leaf");
const TEXT = textOption("--text <text>", 'the text to put in its place; default: "[redacted]"');

const EVERYWHERE = flag(
  "--everywhere",
  "also redact every repetition of its text: in this session, forks, backups and the trash",
);

/** How much of the content is shown, so that it is plain what goes. */
const EXCERPT_WIDTH = 60;

/** `sessiontree redact`: takes the content of an entry out of a session for good. */
export const redactCommand: Command = {
  details: `The only command that rewrites history: the entry keeps its id and place, its content is removed, and a new entry records that. The old bytes are not kept. It lists what else contains the text: other entries, forks, backups, sessions in the trash. With --everywhere it redacts those, too.`,
  parameters: [SESSION, ENTRY, TEXT, EVERYWHERE, YES],
  examples: [
    ["redact session.jsonl 1a2b3c4d", "asks before it does so"],
    ["redact @last @leaf --text (secret) --yes", "does not ask, and leaves this text in its place"],
    ["redact @last 1a2b3c4d --everywhere", "also where other entries and sessions repeat the text"],
  ],
  run: async (call) => {
    const session = new SessionView(await call.findSession(call.get(SESSION)));
    const entryId = session.findEntry(call.get(ENTRY));
    const text = call.get(TEXT) ?? REDACTED_TEXT;
    const entry = session.entryAt(session.tree.find(entryId));
    const what = plainLine(`${kindOf(entry).word} ${entryId}`);
    if (!(await isConfirmed(call, what, excerptOf(entry).text))) {
      call.warn("Nothing was changed.");
      return EXIT_CODES.failed;
    }
    const { path } = session;
    const texts = entry === undefined ? [] : redactedTexts(entry);
    const recordId = await call.changeSession(path, (opened) => opened.redact(entryId, text));
    const { json } = call.locationOf(path);
    // Of a database only the one session is at hand.
    const found = "path" in json ? await findSameText(call, path, texts) : [];
    const left = call.get(EVERYWHERE) ? await redactAll(call, found, text) : found;
    const isLeft = (other: string) => left.some((one) => one.path === other);
    const done = found.filter(({ path: other }) => !isLeft(other));
    const leftovers = leftoversOf(path).filter((other) => !done.some((one) => one.path === other));
    if (call.json)
      call.out.json({ ...json, entryId, replacement: text, recordId, leftovers, redacted: done, left });
    else writeDone(call, { what, text, recordId, leftovers, done, left });
    return call.get(EVERYWHERE) && left.length > 0 ? EXIT_CODES.failed : EXIT_CODES.ok;
  },
};

/** Redacts what repeats the text; returns what could not be redacted, having told why. */
async function redactAll(call: CommandCall, found: readonly SameText[], text: string): Promise<SameText[]> {
  const left: SameText[] = [];
  for (const one of found) {
    try {
      await changeSession(one.path, call.io, (opened) => {
        for (const entryId of one.entryIds) opened.redact(entryId, text);
      });
    } catch (error) {
      if (!isSessionError(error)) throw error;
      call.warn(`${plainLine(one.path)}: ${error.message}`);
      left.push(one);
    }
  }
  return left;
}

async function isConfirmed(call: CommandCall, what: string, excerpt: string): Promise<boolean> {
  if (call.get(YES)) return true;
  const said = truncate(excerpt, EXCERPT_WIDTH);
  return confirm(
    call,
    `${what}: ${said}
Its content will be gone for good. Redact it?`,
  );
}

/** What was done. */
interface Redaction {
  readonly what: string;
  readonly text: string;
  readonly recordId: string;
  readonly leftovers: readonly string[];
  readonly done: readonly SameText[];
  readonly left: readonly SameText[];
}

function writeDone({ out }: CommandCall, { what, text, recordId, leftovers, done, left }: Redaction): void {
  const { colours } = out;
  out.line(`Redacted ${what}: its content is now "${plainLine(text)}".`);
  out.line(colours.dim(`Entry ${recordId} records it.`));
  const write = ({ path, entryIds }: SameText) => out.line(`  ${plainLine(path)}: ${entryIds.join(", ")}`);
  if (done.length > 0) {
    out.line("\nRedacted there as well:");
    done.forEach(write);
  }
  if (left.length > 0) {
    out.line(colours.yellow("\nThese repeat the text; --everywhere redacts them, too:"));
    left.forEach(write);
  }
  if (leftovers.length === 0) return;
  out.line(colours.yellow("\nThese may still contain the text; delete them if you do not need them:"));
  for (const leftover of leftovers) out.line(`  ${plainLine(leftover)}`);
}
