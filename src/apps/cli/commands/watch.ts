import { excerptOf } from "../../../core/facts/excerpt.ts";
import { plainLine } from "../../../core/facts/plain-text.ts";
import { dateAndTime } from "../../../core/facts/times.ts";
import type { SessionEntry } from "../../../core/format/entry.ts";
import { kindOf } from "../../text/entry-kind.ts";
import type { Command } from "../command.ts";
import type { Output } from "../output.ts";
import { argument } from "../parameters.ts";
import { kindColumn } from "../view/color.ts";
import { excerptLine } from "../view/excerpt-line.ts";
import { shortId } from "../view/short-ids.ts";

const SESSION = argument("<session>", "the session");

const ID_WIDTH = 8;

/** `sessiontree watch`: shows entries as others append them. */
export const command: Command = {
  parameters: [SESSION],
  examples: [
    ["watch @last", "what an agent is doing"],
    ["watch session.jsonl --json | jq .message", "the entries themselves"],
  ],
  run: async (call) => {
    const { findKeptSession, get, io, json, out, warn } = call;
    const named = await findKeptSession(get(SESSION));
    const session = await named.open("read-only");
    const signal = io.untilInterrupted?.();
    // Also for a program that starts this one: from here on nothing is missed.
    warn(`Watching ${plainLine(named.location.text)}; an interrupt (Ctrl-C) ends it.`);
    for await (const entry of session.watch(signal && { signal })) {
      if (json) out.json(entry);
      else writeEntry(entry, out);
      out.flush();
    }
  },
};

function writeEntry(entry: SessionEntry, out: Output): void {
  const { colours } = out;
  const facts = [
    colours.dim(dateAndTime(Date.parse(entry.timestamp)).slice("YYYY-MM-DD ".length)),
    colours.dim(out.isLaidOut ? shortId(entry.id, ID_WIDTH) : plainLine(entry.id)),
    kindColumn(colours, kindOf(entry)),
  ];
  out.line(excerptLine(facts, excerptOf(entry, !out.isLaidOut), out));
}
