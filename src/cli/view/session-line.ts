import type { SessionRow } from "../../catalog/session-row.ts";
import { plainLine } from "../text/plain.ts";
import { truncate } from "../text/width.ts";

/** Characters of an id that are shown where there is no list to shorten it by. */
const ID_WIDTH = 36;

/** Stands for a title where a session has neither name nor text. */
export const UNTITLED = "(untitled)";

/** Names a session for people, as a harmless line: by its name, or by how it begins. */
export function titleOf({ name, firstMessage }: Pick<SessionRow, "name" | "firstMessage">): string {
  return plainLine(name ?? firstMessage ?? UNTITLED);
}

/** Names a session in one line: its id and its title. */
export function sessionLine(
  session: Pick<SessionRow, "id" | "name" | "firstMessage">,
  width: number,
): string {
  return truncate(`${truncate(plainLine(session.id), ID_WIDTH)}  ${titleOf(session)}`, width);
}
