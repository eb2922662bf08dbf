import type { Command, CommandCall } from "../command.ts";
import { confirm, YES } from "../confirm.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { leftoversOf } from "../leftovers.ts";
import { argument, textOption } from "../parameters.ts";
import { SessionView } from "../session-view.ts";
import { plainLine } from "../text/plain.ts";
import { truncate } from "../text/width.ts";
import { kindOf } from "../view/entry-kind.ts";
import { excerptOf } from "../view/excerpt.ts";

const SESSION = argument("<session>", "the session");
const ENTRY = argument("<entry>", "the entry: its id or the beginning of it, its label, or @leaf");
const TEXT = textOption("--text <text>", 'what stands in its place, instead of "[redacted]"');

const DEFAULT_TEXT = "[redacted]";

/** How much of the content is shown, so that it is plain what goes. */
const EXCERPT_WIDTH = 60;

/** `sessiontree redact`: takes the content of an entry out of a session for good. */
export const redactCommand: Command = {
  name: "redact",
  summary: "Take the content of an entry out of a session for good",
  details: `The one command that rewrites history: the entry keeps its id and place, its
content is gone, and a new entry records that. The old bytes are kept nowhere.
Other entries that repeat the content, such as summaries, and copies of the
session are not touched: "sessiontree search" finds them.`,
  parameters: [SESSION, ENTRY, TEXT, YES],
  examples: [
    ["redact session.jsonl 1a2b3c4d", "asks before it is done"],
    ["redact @last @leaf --text (secret) --yes", "does not ask, and says what it was"],
  ],
  run: async (call) => {
    const session = new SessionView(await call.findSession(call.get(SESSION)));
    const entryId = session.findEntry(call.get(ENTRY));
    const text = call.get(TEXT) ?? DEFAULT_TEXT;
    const entry = session.entryAt(session.tree.find(entryId));
    const what = plainLine(`${kindOf(entry).one} ${entryId}`);
    if (!(await isConfirmed(call, what, excerptOf(entry).text))) {
      call.warn("Nothing was changed.");
      return EXIT_CODES.failed;
    }
    const { path } = session;
    const recordId = await call.changeSession(path, (opened) => opened.redact(entryId, text));
    const leftovers = leftoversOf(path);
    if (call.json)
      call.out.json({ ...call.locationOf(path).json, entryId, replacement: text, recordId, leftovers });
    else writeDone(call, { what, text, recordId, leftovers });
    return EXIT_CODES.ok;
  },
};

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
}

function writeDone({ out }: CommandCall, { what, text, recordId, leftovers }: Redaction): void {
  const { colours } = out;
  out.line(`Redacted ${what}: in the place of its content stands "${plainLine(text)}".`);
  out.line(colours.dim(`Entry ${recordId} records it.`));
  if (leftovers.length === 0) return;
  out.line(colours.yellow("\nThese may still hold what it said; delete them if they are not needed:"));
  for (const leftover of leftovers) out.line(`  ${plainLine(leftover)}`);
}
