import type { SessionBackend, StoredLine } from "../contract/session-backend.ts";
import { joinLines } from "./line-codec.ts";
import { RemoteLines } from "./remote-lines.ts";

/** Lines requested at a time. */
export const PAGE_LINES = 1_000;

/** Reads all lines of a session, as they are at one revision. */
export async function readAllLines(
  backend: SessionBackend,
  id: string,
  onAnswer?: () => void,
): Promise<{ readonly lines: StoredLine[]; readonly revision: number }> {
  let lines: StoredLine[] = [];
  for (let revision: number | undefined; ; ) {
    const page = await backend.read(id, lines.at(-1)?.seq ?? 0, PAGE_LINES);
    onAnswer?.();
    if (revision !== undefined && page.revision !== revision) {
      [lines, revision] = [[], undefined];
      continue;
    }
    revision = page.revision;
    lines.push(...page.lines);
    if (page.isEnd) return { lines, revision };
  }
}

/** Makes the lines of a session known. */
export function sessionIn(stored: readonly StoredLine[]): RemoteLines {
  const lines = new RemoteLines();
  lines.take(joinLines(stored, true));
  lines.end();
  return lines;
}
