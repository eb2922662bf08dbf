import type { SearchHit } from "../../catalog/search/search.ts";
import { formatCounted } from "../../core/facts/number-text.ts";
import { joinTabs } from "../../core/facts/plain-text.ts";
import { formatLastUse } from "../../core/facts/times.ts";
import type { CommandCall } from "./command.ts";
import { measureSessionIds } from "./session-ids.ts";
import type { ListedRow } from "./stored-sessions.ts";
import { fitColumn, measureWidth } from "./text/width.ts";
import { formatTextAfter, takeShortId } from "./view/entry-line.ts";

/** Entry that matches a search, and its session. */
export interface FoundEntry extends SearchHit {
  readonly session: ListedRow;
}

/** Session with entries that match a search. */
export interface FoundSession {
  readonly session: ListedRow;
  readonly entryCount: number;
  /** Score of its best entry. */
  readonly score: number;
}

const DAY_WIDTH = 11;

/**
 * Groups hits by session.
 *
 * @param isRanked - Whether to order sessions by their best hits; if false, keeps the order of the hits.
 */
export async function gatherSessions(
  hits: AsyncIterable<FoundEntry>,
  isRanked: boolean,
): Promise<FoundSession[]> {
  const sessions = new Map<string, FoundSession>();
  for await (const { session, score } of hits) {
    const key = session.path ?? session.id;
    const known = sessions.get(key);
    sessions.set(key, {
      session,
      entryCount: (known?.entryCount ?? 0) + 1,
      score: Math.max(known?.score ?? 0, score),
    });
  }
  const found = [...sessions.values()];
  return isRanked ? found.sort((a, b) => b.score - a.score) : found;
}

/** Writes one line per session: id, age, number of matching entries, and title; in a pipe: id, number, title, and path. */
export async function writeSessions(call: CommandCall, found: readonly FoundSession[]): Promise<void> {
  const { io, json, out } = call;
  const rows = found.map(({ session }) => session);
  const isLaidOut = out.isLaidOut && !json;
  const idLength = isLaidOut ? await measureSessionIds(call, rows, call.stored !== undefined) : 0;
  const counts = found.map(({ entryCount }) => formatCounted(entryCount, "entry", "entries"));
  const countWidth = Math.max(0, ...counts.map((count) => count.length));
  found.forEach(({ session, entryCount, score }, i) => {
    const { id, path, store, cwd, name, title, modified } = session;
    if (json) out.json({ session: { id, path, store, cwd, name }, entryCount, score });
    else if (!isLaidOut) out.line(joinTabs([id, entryCount, title, path ?? store ?? ""]));
    else {
      const shortId = fitColumn(takeShortId(id, idLength), idLength);
      const day = fitColumn(formatLastUse(modified.getTime(), io.now()), DAY_WIDTH);
      const facts = [shortId, day, fitColumn(counts[i] ?? "", countWidth)].join("  ");
      const front = measureWidth(facts) <= out.width ? facts : shortId;
      out.line(formatTextAfter(out.colors.dim(front), title, out, out.colors.bold));
    }
  });
}
