import type { SessionInfo } from "../../catalog/session-info.ts";
import { plainLine } from "../text/plain.ts";
import { truncate } from "../text/width.ts";

/** Characters of an id that are shown where there is no list to shorten it by. */
const ID_WIDTH = 36;

/** Names a session in one line: its id, and its name or what it begins with. */
export function sessionLine(
  { id, name, firstMessage }: Pick<SessionInfo, "id" | "name" | "firstMessage">,
  width: number,
): string {
  return truncate(`${truncate(plainLine(id), ID_WIDTH)}  ${plainLine(name ?? firstMessage)}`, width);
}
