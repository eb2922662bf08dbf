import { useMemo } from "preact/hooks";
import { groupBy } from "../../../core/format/group-by.ts";
import {
  type IndexUsage,
  isWithin,
  parsePeriod,
  readIndexUsage,
  type SpentGroup,
  sumByKey,
} from "../model/index-usage.ts";
import {
  chooseSessions,
  filterSessions,
  type ListHit,
  type SessionList,
  type SessionNode,
  SORTS,
  type Sort,
} from "../model/session-list.ts";
import { NOT_IMPORTED } from "./choice-bar.tsx";
import type { IndexAddress } from "./index-address.ts";
import type { IndexSearch } from "./use-index-search.ts";
import { type Answer, useAnswer } from "./use-server.ts";

/** Hits if there was no content search. */
const NO_HITS = [] as const;

/** Sessions that match the reader's choices, their hits, and their usage. */
export interface ShownSessions {
  readonly nodes: readonly SessionNode[];
  /** Hits by the address of the session. */
  readonly hitsBySession: ReadonlyMap<string, readonly ListHit[]>;
  /** The server's response about the usage. */
  readonly answer: Answer<IndexUsage>;
  /** Undefined until it is known. */
  readonly usage: IndexUsage | undefined;
  /** Usage of all sessions in the chosen period; undefined until it is known. */
  readonly inPeriod: readonly SpentGroup[] | undefined;
}

/** Chooses and sorts the sessions of a list by the reader's choices and the result of the content search. */
export function useShownSessions(
  { usageUrl, sessions }: SessionList,
  { address, text, contents }: IndexSearch,
): ShownSessions {
  const { project, source, time = "" } = address;
  const answer = useAnswer(usageUrl, readIndexUsage);
  const usage = answer.state === "there" ? answer.value : undefined;
  const period = useMemo(() => parsePeriod(time, new Date()), [time]);
  const inPeriod = useMemo(() => usage?.groups.filter(({ day }) => isWithin(day, period)), [usage, period]);
  const spent = useMemo(() => inPeriod && sumByKey(inPeriod, ({ session }) => session), [inPeriod]);
  const hits = contents.state === "found" ? contents.hits : NO_HITS;
  const hitsBySession = useMemo(() => groupBy(hits, ({ session }) => session), [hits]);
  const named = new Set(filterSessions(sessions, text));
  const nodes = chooseSessions(sessions, usage, {
    isFound: (session) => (contents.state === "found" ? hitsBySession.has(session.href) : named.has(session)),
    project,
    source: source === NOT_IMPORTED ? "" : source,
    period,
    spent,
    sort: getSort(address),
    ranked: contents.state === "found" && address.sort === undefined ? [...hitsBySession.keys()] : undefined,
  });
  return { nodes, hitsBySession, answer, usage, inPeriod };
}

/** Returns the chosen order. */
function getSort({ sort }: IndexAddress): Sort {
  return SORTS.find((one) => one === sort) ?? "latest";
}
