import { fieldsOf, messageFieldsOf } from "../../core/context/entry-fields.ts";
import { textOf } from "../../core/context/message-parts.ts";
import { tellingArgument } from "../../core/facts/key-argument.ts";
import { type EntryOutcome, outcomeOf } from "../../core/facts/outcome.ts";
import { callOf } from "../../core/facts/tool-calls.ts";
import type { RecalledSession } from "./recalled-session.ts";

/** A call that has a result, or a command of a person. */
export interface FinishedCall {
  readonly ordinal: number;
  readonly name: string;
  readonly input: unknown;
  readonly outcome: EntryOutcome | undefined;
}

/** Tools that run commands: what a command begins with says what it is for. */
const SHELL = /^(?:bash|shell|exec|terminal|run_?(?:shell_?)?command|local_shell|powershell|command)/i;

const WORDS = 2;
const MOST_READ = 200;

/** Returns the call that an entry is the result of, or the command that it is; undefined for others. */
export function finishedCallAt(session: RecalledSession, ordinal: number): FinishedCall | undefined {
  const entry = session.entryAt(ordinal);
  const { role, command } = messageFieldsOf(entry);
  if (entry === undefined) return undefined;
  const outcome = outcomeOf(entry);
  if (role === "bashExecution")
    return { ordinal, name: "command", input: { command: textOf(command) }, outcome };
  const call = callOf(session, ordinal);
  return call && { ordinal, name: call.name, input: call.input, outcome };
}

/** Calls behind a failure: what was tried, and what then worked. */
export interface Aftermath {
  /** In their order, without the one that worked. */
  readonly tried: readonly FinishedCall[];
  /** The first call for the same purpose that did not fail; undefined if there is none. */
  readonly worked: FinishedCall | undefined;
  /** Whether that is on the branch that was continued, while the failure is on one that was left. */
  readonly isElsewhere: boolean;
}

/**
 * Follows the branch of a failure to the first call for the same purpose that worked; if there is none, the branch that was
 * continued instead.
 *
 * @remarks Cost: O(entries behind it), at most 200 bodies on each branch.
 */
export function aftermathOf(session: RecalledSession, failed: FinishedCall): Aftermath {
  const path = session.pathThrough(failed.ordinal);
  const own = firstWorking(session, path.slice(path.indexOf(failed.ordinal) + 1), failed);
  if (own.worked !== undefined || session.active.has(failed.ordinal)) return { ...own, isElsewhere: false };
  const kept = [...session.active];
  const fork = path.findLastIndex((ordinal) => session.active.has(ordinal));
  const behind = kept.slice(kept.indexOf(path[fork] ?? -1) + 1);
  const other = firstWorking(session, behind, failed);
  return other.worked === undefined ? { ...own, isElsewhere: false } : { ...other, isElsewhere: true };
}

function firstWorking(
  session: RecalledSession,
  ordinals: readonly number[],
  failed: FinishedCall,
): Omit<Aftermath, "isElsewhere"> {
  const tried: FinishedCall[] = [];
  const wanted = purposeOf(failed);
  for (const ordinal of ordinals.slice(0, MOST_READ)) {
    const call = finishedCallAt(session, ordinal);
    if (call === undefined) continue;
    if (call.outcome === undefined && purposeOf(call) === wanted) return { tried, worked: call };
    tried.push(call);
  }
  return { tried, worked: undefined };
}

/** Says what a call is for, so that calls can be compared: of a command its first words, else the tool and what it names. */
function purposeOf({ name, input }: FinishedCall): string {
  const { command, cmd } = fieldsOf(input);
  const words = [command, cmd].find(Array.isArray);
  const text =
    words === undefined ? tellingArgument(input) : words.filter((one) => typeof one === "string").join(" ");
  if (!SHELL.test(name)) return `${name}\n${text}`;
  // What only goes to a folder first says nothing of what is run there.
  const own = text
    .trim()
    .replace(/^(?:cd\s+\S+\s*(?:&&|;)\s*)+/, "")
    .replace(/^bash\s+-l?c\s+/, "");
  return own.split(/\s+/).slice(0, WORDS).join(" ");
}
