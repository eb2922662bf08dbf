import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted } from "../../../core/facts/number-text.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import { isWithin, periodOf, readIndexUsage, sumsBy } from "../model/index-usage.ts";
import { chooseSessions, type SessionNode } from "../model/session-choice.ts";
import { type SessionList, sessionsNamed } from "../model/session-list.ts";
import { HELP_TITLE, Help, LIST_SIGNS } from "./help.tsx";
import { HelpIcon, IconButton } from "./icons.tsx";
import { ChoiceBar, NOT_IMPORTED, sortOf, useChoices } from "./index-choices.tsx";
import { IndexSummary } from "./index-summary.tsx";
import { LIST_KEY_HELP, useKeys } from "./keys.ts";
import { SearchBox } from "./search-box.tsx";
import { SessionRow } from "./session-row.tsx";
import { ThemeButton, toggleTheme } from "./theme-button.tsx";
import { type Answer, type Contents, useAnswer, useContents } from "./use-server.ts";

/** Nothing was found in contents. */
const NO_HITS = [] as const;

/** A list of sessions, with a filter by name as one writes and a search through contents on Enter. */
export function SessionIndex({ list: { name, searchUrl, usageUrl, sessions } }: { list: SessionList }) {
  const [text, setText] = useState("");
  const [contents, search, forget] = useContents(searchUrl);
  useEffect(() => {
    document.title = "Sessions · sessiontree";
  }, []);
  const answer = useAnswer(usageUrl, readIndexUsage);
  const usage = answer.state === "there" ? answer.value : undefined;
  const [choices, choose] = useChoices();
  const { project, source, time = "" } = choices;
  const period = useMemo(() => periodOf(time, new Date()), [time]);
  const inPeriod = useMemo(() => usage?.groups.filter(({ day }) => isWithin(day, period)), [usage, period]);
  const spent = useMemo(() => inPeriod && sumsBy(inPeriod, ({ session }) => session), [inPeriod]);
  const hits = contents.state === "found" ? contents.hits : NO_HITS;
  const bySession = useMemo(() => groupBy(hits, ({ session }) => session), [hits]);
  const named = new Set(sessionsNamed(sessions, text));
  const nodes = chooseSessions(sessions, usage, {
    isFound: (session) => (contents.state === "found" ? bySession.has(session.href) : named.has(session)),
    project,
    source: source === NOT_IMPORTED ? "" : source,
    period,
    spent,
    sort: sortOf(choices),
    ranked: contents.state === "found" && choices.sort === undefined ? [...bySession.keys()] : undefined,
  });
  const roots = new Set(nodes.map(({ session }) => session.href));
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [isHelpShown, showHelp] = useState(false);
  /** Moves the focus among the sessions; from elsewhere, to the first. */
  const step = (direction: 1 | -1) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>(".session-row > a:first-child") ?? [])];
    const at = links.findIndex((link) => link.matches(":focus"));
    links[at === -1 ? 0 : at + direction]?.focus();
  };
  useKeys(false, {
    search: () => field.current?.focus(),
    next: () => step(1),
    previous: () => step(-1),
    theme: toggleTheme,
    help: () => showHelp(true),
  });
  const change = (value: string) => {
    setText(value);
    forget();
  };
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
          onText={change}
          onKeyDown={(event) => {
            if (event.key === "Enter") search(text);
            if (event.key !== "Escape") return;
            if (text === "") field.current?.blur();
            change("");
          }}
        />
        <ThemeButton />
        <IconButton
          icon={HelpIcon}
          label={HELP_TITLE}
          hint={`${HELP_TITLE} (?)`}
          onClick={() => showHelp(true)}
        />
      </header>
      <main class="index-main">
        <div class="index-bar">
          <span role="status">{statusOf(contents, nodes.length, hits.length)}</span>
          {text.trim() !== "" && contents.state === "idle" && (
            <button type="button" class="link-button" onClick={() => search(text)}>
              Search contents for “{text.trim()}”
            </button>
          )}
          <span class="choices">
            <ChoiceBar sessions={sessions} usage={usage} choices={choices} onChange={choose} />
          </span>
        </div>
        <UsageState answer={answer} damaged={damagedIn(nodes)} onDamaged={() => choose({ sort: "issues" })} />
        {inPeriod !== undefined && (
          <IndexSummary
            groups={inPeriod.filter(({ session }) => roots.has(session))}
            sessions={nodes.length}
            onSpan={(span) => choose({ time: span })}
          />
        )}
        {nodes.length === 0 ? (
          <NoSessions name={name} all={sessions.length} contents={contents} text={text.trim()} />
        ) : (
          <ul class="session-list" ref={list}>
            {nodes.map((node) => (
              <SessionRow
                key={node.session.href}
                node={node}
                wanted={contents.state === "found" ? "" : text}
                hits={bySession}
              />
            ))}
          </ul>
        )}
      </main>
      {isHelpShown && <Help keys={LIST_KEY_HELP} signs={LIST_SIGNS} onClose={() => showHelp(false)} />}
    </div>
  );
}

function statusOf(contents: Contents, sessions: number, hits: number): string {
  switch (contents.state) {
    case "searching":
      return `Searching contents for “${contents.text}”…`;
    case "failed":
      return `The search failed: ${contents.reason}`;
    case "found":
      return `${counted(hits, "entry", "entries")} with “${contents.text}” in ${counted(sessions, "session", "sessions")}`;
    case "idle":
      return counted(sessions, "session", "sessions");
  }
}

interface UsageStateProps {
  readonly answer: Answer<unknown>;
  readonly damaged: number;
  /** Shows those that are damaged. */
  readonly onDamaged: () => void;
}

/** Says why sums are missing, or less than they could be. */
function UsageState({ answer, damaged, onDamaged }: UsageStateProps) {
  if (answer.state === "waiting") return <p class="index-note">Adding up what the sessions used…</p>;
  if (answer.state === "failed") return <p class="index-note">The usage is not known: {answer.reason}</p>;
  if (damaged === 0) return null;
  return (
    <p class="index-note">
      <button type="button" class="link-button" onClick={onDamaged}>
        {counted(damaged, "session has", "sessions have")} damaged lines
      </button>
      ; calls on those lines are in no sum.
    </p>
  );
}

/** Counts the sessions that are listed, those of subagents included, and have damaged lines. */
function damagedIn(nodes: readonly SessionNode[]): number {
  return nodes.reduce(
    (sum, { session, subagents }) => sum + (session.issueCount > 0 ? 1 : 0) + damagedIn(subagents),
    0,
  );
}

interface NoSessionsProps {
  /** What the list is called, and how many sessions are in it. */
  readonly name: string;
  readonly all: number;
  readonly contents: Contents;
  readonly text: string;
}

/** Says why nothing is listed, and what to do. */
function NoSessions({ name, all, contents, text }: NoSessionsProps) {
  if (contents.state === "searching") return null;
  return (
    <div class="index-empty">
      {all === 0 ? (
        <>
          <p>There are no sessions in {name}.</p>
          <p>
            Sessions are files that end in <code>.jsonl</code>. <code>sessiontree view FOLDER</code> lists
            another folder, <code>sessiontree view --all</code> all projects, and{" "}
            <code>sessiontree import</code> brings in those of other programs. Reload this page when an agent
            has written one.
          </p>
        </>
      ) : contents.state === "found" ? (
        <p>No session says “{contents.text}”. Try fewer words: all of them must stand in one entry.</p>
      ) : text === "" ? (
        <p>No session is of this project, source and time.</p>
      ) : (
        <p>
          No title, project or id has “{text}”. Press Enter to search what was said in{" "}
          {counted(all, "session", "sessions")}.
        </p>
      )}
    </div>
  );
}
