import type { FileRow } from "../../catalog/session-row.ts";
import { plainLine } from "../../view/plain.ts";
import { titleOf } from "../../view/session-title.ts";

/** A session as a picker keeps it. */
export interface PickerSession extends PickerFacts {
  /** The name, else the first message, else that there is neither. */
  readonly title: string;
  /** What a filter looks into, in lower case. */
  readonly searched: string;
}

/** What a picker has to know of a session. Texts that are shown are harmless lines. */
interface PickerFacts {
  readonly path: string;
  readonly id: string;
  readonly cwd: string;
  /** Empty if there is none. */
  readonly name: string;
  /** Empty if there is none. */
  readonly firstMessage: string;
  /** Unix milliseconds of the latest message. */
  readonly modifiedMs: number;
  readonly messageCount: number;
}

/** Makes what a picker shows of a session. */
export function pickerSession(facts: PickerFacts): PickerSession {
  const { path, id, cwd, modifiedMs, messageCount } = facts;
  const name = plainLine(facts.name);
  const firstMessage = plainLine(facts.firstMessage);
  const searched = `${name}\n${firstMessage}\n${id}\n${cwd}`.toLowerCase();
  const title = titleOf(facts);
  return { path, id, cwd, modifiedMs, messageCount, name, firstMessage, title, searched };
}

/** Makes what a picker shows of a row of the catalog. */
export function pickedFrom(info: FileRow): PickerSession {
  const { path, id, cwd, firstMessage = "", messageCount, name = "", modified } = info;
  return pickerSession({ path, id, cwd, firstMessage, messageCount, name, modifiedMs: modified.getTime() });
}

/** Orders sessions as `list` does: latest first, then by path. */
export function comparePicked(a: PickerSession, b: PickerSession): number {
  return b.modifiedMs - a.modifiedMs || (a.path < b.path ? -1 : 1);
}
