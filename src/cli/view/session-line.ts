import { plainLine } from "../../view/plain.ts";
import { type TitleFacts, titleOf } from "../../view/session-title.ts";
import { truncate } from "../text/width.ts";

/** Characters of an id that are shown where there is no list to shorten it by. */
const ID_WIDTH = 36;

/** Names a session in one line: its id and its title. */
export function sessionLine(session: TitleFacts & { readonly id: string }, width: number): string {
  return truncate(`${truncate(plainLine(session.id), ID_WIDTH)}  ${titleOf(session)}`, width);
}
