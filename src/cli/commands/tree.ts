import type { Command, CommandCall } from "../command.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import { argument, flag } from "../parameters.ts";
import { SessionView } from "../session-view.ts";
import { TreeWriter } from "../tree/draw.ts";
import { writeHeading } from "../tree/heading.ts";
import { chooseLandmarks, drawEverything } from "../tree/landmarks.ts";
import { treeRows } from "../tree/rows.ts";
import { findTrunk } from "../tree/trunk.ts";
import { countKinds, kindOf, readKinds } from "../view/entry-kind.ts";
import { excerptOf } from "../view/excerpt.ts";

const SESSION = argument("<session>", "the session to draw");
const ALL = flag("--all", "draw every entry, fold nothing");

/** `sessiontree tree`: draws a session's tree. */
export const treeCommand: Command = {
  name: "tree",
  summary: "Draw the tree of a session",
  details: `The path to the leaf is the straight line at the left; what hangs to the side was left there.
Long lines of entries are folded, except for branch points, labels, compactions, summaries and some user messages.`,
  parameters: [SESSION, ALL],
  examples: [
    ["tree @last", "the latest session of this project"],
    ["tree session.jsonl --all | less -R", "every entry of a file"],
    ["tree session.jsonl --json", "one JSON object per entry, in the order of the file"],
  ],
  run: async (call) => {
    const session = new SessionView(await call.findSession(call.get(SESSION)));
    return call.json ? writeEntries(call, session) : drawTree(call, session);
  },
};

function drawTree({ out, get }: CommandCall, session: SessionView): ExitCode {
  const kinds = readKinds(session);
  writeHeading(session, countKinds(kinds), out);
  const { tree } = session;
  const trunk = findTrunk(tree, session.leaf);
  const landmarks = get(ALL) ? drawEverything(tree) : chooseLandmarks(session, trunk, kinds);
  let isFolded = false;
  const noted = function* () {
    for (const row of treeRows({ tree, trunk, kinds, landmarks })) {
      isFolded ||= row.kind === "run" || row.kind === "branches";
      yield row;
    }
  };
  new TreeWriter(session, kinds, out).write(noted());
  if (isFolded) out.line(out.colours.dim("\nFolded to be readable; --all draws every entry."));
  return EXIT_CODES.ok;
}

/** One object for each entry; the parent tells where it hangs. */
function writeEntries({ out }: CommandCall, session: SessionView): ExitCode {
  const { tree, labels, leaf } = session;
  session.readEntries(tree.ordinals(), (ordinal, entry) => {
    const { id, parentId, timestampMs, type } = tree.headAt(ordinal);
    const label = labels.get(id)?.label;
    out.json({
      id,
      parentId,
      type,
      kind: kindOf(entry).word,
      timestamp: Number.isNaN(timestampMs) ? null : new Date(timestampMs).toISOString(),
      ...(label !== undefined && { label }),
      isLeaf: ordinal === leaf,
      excerpt: excerptOf(entry).text,
    });
  });
  return EXIT_CODES.ok;
}
