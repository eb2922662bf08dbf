import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatCounted } from "../../../core/facts/number-text.ts";
import type { IndexUsage } from "../model/index-usage.ts";
import type { ListedSession, ListHit, SessionList, SessionNode } from "../model/session-list.ts";
import { ChoiceBar } from "./choice-bar.tsx";
import { LinkButton, SearchBox, ThemeButton, toggleTheme } from "./controls.tsx";
import { HELP_TITLE, Help, LIST_SIGNS } from "./help.tsx";
import { HelpIcon, IconButton } from "./icons.tsx";
import { getLeftThrough, usePlace } from "./index-place.ts";
import { IndexSummary } from "./index-summary.tsx";
import { LIST_KEY_HELP, useKeys } from "./keys.ts";
import { NoSessions } from "./no-sessions.tsx";
import { SessionRow } from "./session-row.tsx";
import { type IndexSearch, useIndexSearch } from "./use-index-search.ts";
import type { Answer, Contents } from "./use-server.ts";
import { type ShownSessions, useShownSessions } from "./use-shown-sessions.ts";

/** List of sessions, with a filter by name while typing and a content search on Enter. */
export function SessionIndex({ list }: { list: SessionList }) {
  const { name, searchUrl, importableUrl, sessions } = list;
  const field = useRef<HTMLInputElement>(null);
  const main = useRef<HTMLElement>(null);
  const search = useIndexSearch(searchUrl, main);
  const { text, contents, change } = search;
  useEffect(() => {
    document.title = "Sessions · sessiontree";
  }, []);
  const shown = useShownSessions(list, search);
  const { nodes, answer, usage, hitsBySession } = shown;
  const [isHelpShown, showHelp] = useState(false);
  const [leftThrough] = useState(getLeftThrough);
  usePlace({ main, isReady: contents.state !== "searching", isComplete: answer.state !== "waiting" });
  useKeys(false, {
    search: () => field.current?.focus(),
    next: () => stepAmong(main, SESSIONS, 1),
    previous: () => stepAmong(main, SESSIONS, -1),
    theme: toggleTheme,
    help: () => showHelp(true),
  });
  const links = contents.state === "found" ? HITS : SESSIONS;
  const help = () => showHelp(true);
  return (
    <div class="index">
      <IndexHeader {...{ name, field, search }} onDown={() => focusFirst(main, links)} onHelp={help} />
      <main class="index-main" ref={main}>
        <IndexBar sessions={sessions} shown={shown} search={search} />
        <UsageState
          answer={answer}
          damaged={countDamaged(nodes)}
          onDamaged={() => change({ sort: "issues" })}
        />
        <ShownUsage shown={shown} search={search} />
        {nodes.length === 0 ? (
          <NoSessions all={sessions.length} text={text.trim()} {...{ name, contents, importableUrl }} />
        ) : (
          <SessionRows
            nodes={nodes}
            usage={usage}
            hits={hitsBySession}
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

interface IndexHeaderProps {
  readonly name: string;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly search: IndexSearch;
  /** Moves the focus from the field to the first link; returns whether there is one. */
  readonly onDown: () => boolean;
  readonly onHelp: () => void;
}

/** Head of the page: name of the list, search field, and buttons. */
function IndexHeader({ name, field, search, onDown, onHelp }: IndexHeaderProps) {
  const { text, setText } = search;
  return (
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
          if (event.key === "Enter") search.search();
          if (event.key === "ArrowDown" && onDown()) event.preventDefault();
          if (event.key !== "Escape") return;
          if (text === "") field.current?.blur();
          setText("");
        }}
      />
      <ThemeButton />
      <IconButton icon={HelpIcon} label={HELP_TITLE} shortcut="?" onClick={onHelp} />
    </header>
  );
}

interface IndexBarProps {
  readonly sessions: readonly ListedSession[];
  readonly shown: ShownSessions;
  readonly search: IndexSearch;
}

/** Bar above the list: number of sessions or state of the search, and filters. */
function IndexBar({ sessions, shown, search }: IndexBarProps) {
  const { nodes, usage } = shown;
  const { contents, address, change } = search;
  const text = search.text.trim();
  return (
    <div class="index-bar">
      <span role="status">{formatStatus(contents, nodes.length)}</span>
      {text !== "" && contents.state === "idle" && (
        <LinkButton onClick={search.search}>Search contents for “{text}”</LinkButton>
      )}
      {sessions.length > 0 && (
        <span class="choices">
          <ChoiceBar sessions={sessions} usage={usage} choices={address} onChange={change} />
        </span>
      )}
    </div>
  );
}

/** Usage of the shown sessions, which is folded below a content search. */
function ShownUsage({ shown, search }: { shown: ShownSessions; search: IndexSearch }) {
  const { nodes, inPeriod } = shown;
  const { contents, change } = search;
  const roots = new Set(nodes.map(({ session }) => session.href));
  const isSearching = contents.state === "searching" || contents.state === "found";
  const summary = inPeriod !== undefined && (
    <IndexSummary
      groups={inPeriod.filter(({ session }) => roots.has(session))}
      sessions={nodes.length}
      onSpan={(span) => change({ time: span })}
    />
  );
  if (!isSearching) return summary;
  return nodes.length > 0 && <FoldedUsage>{summary}</FoldedUsage>;
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

function formatStatus(contents: Contents, sessions: number): string {
  switch (contents.state) {
    case "searching":
      return `Searching contents for “${contents.text}”…`;
    case "failed":
      return `The search failed: ${contents.reason}`;
    case "found":
      return `${contents.hasMore ? "The best " : ""}${formatCounted(contents.hits.length, "entry", "entries")} with “${contents.text}” in ${formatCounted(sessions, "session", "sessions")}`;
    case "idle":
      return formatCounted(sessions, "session", "sessions");
  }
}

interface UsageStateProps {
  readonly answer: Answer<unknown>;
  readonly damaged: number;
  /** Shows the damaged sessions. */
  readonly onDamaged: () => void;
}

/** Explains why sums are missing or incomplete. */
function UsageState({ answer, damaged, onDamaged }: UsageStateProps) {
  if (answer.state === "waiting") return <p class="index-note">Adding up what the sessions used…</p>;
  if (answer.state === "failed") return <p class="index-note">The usage is unavailable: {answer.reason}</p>;
  if (damaged === 0) return null;
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
