import { toPlainLine, toShortLine, withoutMarkdown } from "./plain-text.ts";

/** Stands for a title where a session has neither name nor text. */
const UNTITLED = "(untitled)";

/** What a session is called by, as a row of a list holds it. */
export interface TitleFacts {
  /** Absent or empty if it has none. */
  readonly name?: string | undefined;
  /** Text of the first user message, or how it begins; absent or empty if there is none. */
  readonly firstMessage?: string | undefined;
}

/** Names a session for people, as a harmless line: by its name, or by how it begins. */
export function getSessionTitle({ name = "", firstMessage = "" }: TitleFacts): string {
  return toPlainLine(name) || toShortLine(withoutMarkdown(firstMessage)) || UNTITLED;
}

/** Returns the last folder of a path of any system; empty if there is none. */
export function getFolderName(cwd: string): string {
  return cwd.split(/[/\\]/).findLast(Boolean) ?? "";
}
