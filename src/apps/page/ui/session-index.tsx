import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCounted } from "../../../core/facts/number-text.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import { type IndexUsage, isWithin, parsePeriod, readIndexUsage, sumByKey } from "../model/index-usage.ts";
import {
  chooseSessions,
  filterSessions,
  type ListHit,
  type SessionList,
  type SessionNode,
  SORTS,
  type Sort,
} from "../model/session-list.ts";
import { ChoiceBar, NOT_IMPORTED } from "./choice-bar.tsx";
import { LinkButton, SearchBox, ThemeButton, toggleTheme } from "./controls.tsx";
import { HELP_TITLE, Help, LIST_SIGNS } from "./help.tsx";
import { HelpIcon, IconButton } from "./icons.tsx";
import { type IndexAddress, useIndexAddress } from "./index-address.ts";
import { getLeftThrough, usePlace } from "./index-place.ts";
import { IndexSummary } from "./index-summary.tsx";
import { LIST_KEY_HELP, useKeys } from "./keys.ts";
import { NoSessions } from "./no-sessions.tsx";
import { SessionRow } from "./session-row.tsx";
import { type Answer, type Contents, useAnswer, useContents } from "./use-server.ts";

/** Hits if there was no content search. */
const NO_HITS = [] as const;

/** List of sessions, with a filter by name while typing and a content search on Enter. */
export function SessionIndex({ list }: { list: SessionList }) {
  const { name, searchUrl, usageUrl, importableUrl, sessions } = list;
  const [address, change] = useIndexAddress();
  const { project, source, time = "", search: wanted, filter = "" } = address;
  const text = wanted ?? filter;
  const [contents, searchAgain] = useContents(searchUrl, wanted);
  useEffect(() => {
    document.title = "Sessions · sessiontree";
  }, []);
  const answer = useAnswer(usageUrl, readIndexUsage);
  const usage = answer.state === "there" ? answer.value : undefined;
  const period = useMemo(() => parsePeriod(time, new Date()), [time]);
  const inPeriod = useMemo(() => usage?.groups.filter(({ day }) => isWithin(day, period)), [usage, period]);
  const spent = useMemo(() => inPeriod && sumByKey(inPeriod, ({ session }) => session), [inPeriod]);
  const hits = contents.state === "found" ? contents.hits : NO_HITS;
  const bySession = useMemo(() => groupBy(hits, ({ session }) => session), [hits]);
  const named = new Set(filterSessions(sessions, text));
  const nodes = chooseSessions(sessions, usage, {
    isFound: (session) => (contents.state === "found" ? bySession.has(session.href) : named.has(session)),
    project,
    source: source === NOT_IMPORTED ? "" : source,
    period,
    spent,
    sort: getSort(address),
    ranked: contents.state === "found" && address.sort === undefined ? [...bySession.keys()] : undefined,
  });
  const roots = new Set(nodes.map(({ session }) => session.href));
  const field = useRef<HTMLInputElement>(null);
  const main = useRef<HTMLElement>(null);
  const [isHelpShown, showHelp] = useState(false);
  const isSearching = contents.state === "searching" || contents.state === "found";
  const [leftThrough] = useState(getLeftThrough);
  usePlace({ main, isReady: contents.state !== "searching", isComplete: answer.state !== "waiting" });
  const search = () => {
    const looked = text.trim();
    if (looked === "") return;
    if (main.current !== null) main.current.scrollTop = 0;
    if (looked === wanted) searchAgain();
    else change({ search: looked, filter: undefined }, true);
  };
  useKeys(false, {
    search: () => field.current?.focus(),
    next: () => stepAmong(main, SESSIONS, 1),
    previous: () => stepAmong(main, SESSIONS, -1),
    theme: toggleTheme,
    help: () => showHelp(true),
  });
  const links = contents.state === "found" ? HITS : SESSIONS;
  const setText = (value: string) => change({ filter: value || undefined, search: undefined });
  const summary = inPeriod !== undefined && (
    <IndexSummary
      groups={inPeriod.filter(({ session }) => roots.has(session))}
      sessions={nodes.length}
      isKept={usage !== undefined && usage.groups.length > 0}
      onSpan={(span) => change({ time: span })}
    />
  );
  return (
    <div class="index">
      <header class="top-bar">
        <div class="title">
          <h1>Sessions</h1>
          <p title={name}>{name}</p>
        </div>
        <SearchBox
          field={field}
          placeholder="Filter; Enter searches contents (/)"
          label="Filter sessions; Enter searches their contents"
          text={text}
          onText={setText}
          onKeyDown={(event) => {
            if (event.key === "Enter") search();
            if (event.key === "ArrowDown" && focusFirst(main, links)) event.preventDefault();
            if (event.key !== "Escape") return;
            if (text === "") field.current?.blur();
            setText("");
          }}
        />
        <ThemeButton />
        <IconButton icon={HelpIcon} label={HELP_TITLE} shortcut="?" onClick={() => showHelp(true)} />
      </header>
      <main class="index-main" ref={main}>
        <div class="index-bar">
          <span role="status">{formatStatus(contents, nodes.length, hits.length)}</span>
          {text.trim() !== "" && contents.state === "idle" && (
            <LinkButton onClick={search}>Search contents for “{text.trim()}”</LinkButton>
          )}
          {sessions.length > 0 && (
            <span class="choices">
              <ChoiceBar sessions={sessions} usage={usage} choices={address} onChange={change} />
            </span>
          )}
        </div>
        <UsageState
          answer={answer}
          damaged={countDamaged(nodes)}
          isKept={sessions.some(({ issueCount }) => issueCount > 0)}
          onDamaged={() => change({ sort: "issues" })}
        />
        {isSearching ? nodes.length > 0 && <FoldedUsage>{summary}</FoldedUsage> : summary}
        {nodes.length === 0 ? (
          <NoSessions
            name={name}
            all={sessions.length}
            contents={contents}
            text={text.trim()}
            importableUrl={importableUrl}
          />
        ) : (
          <SessionRows
            nodes={nodes}
            usage={usage}
            hits={bySession}
            wanted={contents.state === "found" ? "" : text}
            leftThrough={leftThrough}
            onStep={(direction) => stepAmong(main, links, direction, field)}
          />
        )}
      </main>
      {isHelpShown && <Help keys={LIST_KEY_HELP} signs={LIST_SIGNS} onClose={() => showHelp(false)} />}
    </div>
  );
}

const SESSIONS = ".session-row > a:first-child";
const HITS = ".session-hit";

type Main = RefObject<HTMLElement | null>;

function focusFirst(main: Main, links: string): boolean {
  const first = main.current?.querySelector<HTMLElement>(links);
  first?.focus();
  return first !== undefined && first !== null;
}

/** Moves the focus among links: from elsewhere to the first link, and from the first link back to the field, if any. */
function stepAmong(
  main: Main,
  links: string,
  direction: 1 | -1,
  field?: RefObject<HTMLElement | null>,
): void {
  const all = [...(main.current?.querySelectorAll<HTMLElement>(links) ?? [])];
  const { activeElement: active } = document;
  const at = all.findIndex((link) => link.matches(":focus"));
  if (at !== -1) {
    const isBeforeFirst = at === 0 && direction === -1;
    (isBeforeFirst ? field?.current : all[at + direction])?.focus();
    return;
  }
  // From another element of the list, the focus moves to the next link in that direction.
  const isInside = active !== null && main.current?.contains(active) === true;
  const isAfter = (link: HTMLElement) =>
    active !== null && (active.compareDocumentPosition(link) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  const next = direction === 1 ? all.find(isAfter) : all.findLast((link) => !isAfter(link));
  (isInside ? next : all[0])?.focus();
}

/** Usage of the found sessions, folded so that the hits come first. */
function FoldedUsage({ children }: { children: ComponentChildren }) {
  return (
    <details class="index-fold">
      <summary>Usage of these sessions</summary>
      {children}
    </details>
  );
}

interface SessionRowsProps {
  readonly nodes: readonly SessionNode[];
  readonly usage: IndexUsage | undefined;
  readonly hits: ReadonlyMap<string, readonly ListHit[]>;
  readonly wanted: string;
  readonly leftThrough: string | undefined;
  readonly onStep: (direction: 1 | -1) => void;
}

function SessionRows({ nodes, usage, hits, wanted, leftThrough, onStep }: SessionRowsProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const direction = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : undefined;
    if (direction === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onStep(direction);
  };
  return (
    <ul class="session-list" onKeyDown={onKeyDown}>
      {nodes.map((node) => (
        <SessionRow key={node.session.href} {...{ node, usage, hits, wanted, leftThrough }} />
      ))}
    </ul>
  );
}

function formatStatus(contents: Contents, sessions: number, hits: number): string {
  switch (contents.state) {
    case "searching":
      return `Searching contents for “${contents.text}”…`;
    case "failed":
      return `The search failed: ${contents.reason}`;
    case "found":
      return `${formatCounted(hits, "entry", "entries")} with “${contents.text}” in ${formatCounted(sessions, "session", "sessions")}`;
    case "idle":
      return formatCounted(sessions, "session", "sessions");
  }
}

interface UsageStateProps {
  readonly answer: Answer<unknown>;
  readonly damaged: number;
  /** Whether its line is kept while it is empty, because it may be used again. */
  readonly isKept: boolean;
  /** Shows the damaged sessions. */
  readonly onDamaged: () => void;
}

/** Explains why sums are missing or incomplete. */
function UsageState({ answer, damaged, isKept, onDamaged }: UsageStateProps) {
  if (answer.state === "waiting") return <p class="index-note">Adding up what the sessions used…</p>;
  if (answer.state === "failed") return <p class="index-note">The usage is unavailable: {answer.reason}</p>;
  if (damaged === 0) return isKept ? <p class="index-note">&nbsp;</p> : null;
  return (
    <p class="index-note">
      <LinkButton onClick={onDamaged}>
        {formatCounted(damaged, "session has", "sessions have")} damaged lines
      </LinkButton>
      ; calls on those lines are not counted.
    </p>
  );
}

/** Counts the listed sessions with damaged lines, including subagents' sessions. */
function countDamaged(nodes: readonly SessionNode[]): number {
  return nodes.reduce(
    (sum, { session, subagents }) => sum + (session.issueCount > 0 ? 1 : 0) + countDamaged(subagents),
    0,
  );
}

/** Returns the chosen order. */
function getSort({ sort }: IndexAddress): Sort {
  return SORTS.find((one) => one === sort) ?? "latest";
}
