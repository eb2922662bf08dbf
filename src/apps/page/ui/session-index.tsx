import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCounted } from "../../../core/facts/number-text.ts";
import { getFolderName } from "../../../core/facts/session-title.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import {
  type IndexUsage,
  isWithin,
  PERIODS,
  parsePeriod,
  readIndexUsage,
  sumByKey,
} from "../model/index-usage.ts";
import {
  chooseSessions,
  filterSessions,
  type ListedSession,
  type SessionList,
  type SessionNode,
  SORTS,
  type Sort,
} from "../model/session-list.ts";
import { LinkButton, SearchBox, ThemeButton, toggleTheme } from "./controls.tsx";
import { HELP_TITLE, Help, LIST_SIGNS } from "./help.tsx";
import { HelpIcon, IconButton } from "./icons.tsx";
import { IndexSummary } from "./index-summary.tsx";
import { LIST_KEY_HELP, useKeys } from "./keys.ts";
import { SessionRow } from "./session-row.tsx";
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
    sort: getSort(choices),
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
        <IconButton icon={HelpIcon} label={HELP_TITLE} shortcut="?" onClick={() => showHelp(true)} />
      </header>
      <main class="index-main">
        <div class="index-bar">
          <span role="status">{formatStatus(contents, nodes.length, hits.length)}</span>
          {text.trim() !== "" && contents.state === "idle" && (
            <LinkButton onClick={() => search(text)}>Search contents for “{text.trim()}”</LinkButton>
          )}
          <span class="choices">
            <ChoiceBar sessions={sessions} usage={usage} choices={choices} onChange={choose} />
          </span>
        </div>
        <UsageState
          answer={answer}
          damaged={countDamaged(nodes)}
          onDamaged={() => choose({ sort: "issues" })}
        />
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
      <LinkButton onClick={onDamaged}>
        {formatCounted(damaged, "session has", "sessions have")} damaged lines
      </LinkButton>
      ; calls on those lines are in no sum.
    </p>
  );
}

/** Counts the sessions that are listed, those of subagents included, and have damaged lines. */
function countDamaged(nodes: readonly SessionNode[]): number {
  return nodes.reduce(
    (sum, { session, subagents }) => sum + (session.issueCount > 0 ? 1 : 0) + countDamaged(subagents),
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
          {formatCounted(all, "session", "sessions")}.
        </p>
      )}
    </div>
  );
}

/** Which sessions a reader has chosen, as the address of the page holds it; a name without a value is not chosen. */
interface Choices {
  readonly project?: string | undefined;
  readonly source?: string | undefined;
  readonly time?: string | undefined;
  readonly sort?: string | undefined;
}

const NAMES = ["project", "source", "time", "sort"] as const;

/** Stands for sessions that were not imported, which have no source. */
const NOT_IMPORTED = "not imported";

/** Keeps what was chosen in the address, so that a reader who comes back finds it. */
function useChoices(): [Choices, (change: Choices) => void] {
  const [choices, setChoices] = useState(readChoices);
  useEffect(() => {
    const onChange = () => setChoices(readChoices());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  const change = (changed: Choices) => {
    const next = { ...choices, ...changed };
    const parts = new URLSearchParams(NAMES.flatMap((name) => (next[name] ? [[name, next[name]]] : [])));
    history.replaceState(null, "", parts.size === 0 ? location.pathname : `#${parts}`);
    setChoices(next);
  };
  return [choices, change];
}

function readChoices(): Choices {
  const parts = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(NAMES.map((name) => [name, parts.get(name) ?? undefined]));
}

/** Returns the order that was chosen. */
function getSort({ sort }: Choices): Sort {
  return SORTS.find((one) => one === sort) ?? "latest";
}

interface ChoiceBarProps {
  readonly sessions: readonly ListedSession[];
  readonly usage: IndexUsage | undefined;
  readonly choices: Choices;
  readonly onChange: (change: Choices) => void;
}

/** Chooses sessions by project, source and time, and their order. */
function ChoiceBar({ sessions, usage, choices, onChange }: ChoiceBarProps) {
  const projects = groupBy(sessions, ({ cwd }) => cwd);
  projects.delete("");
  const byName = [...projects.keys()].map((cwd): Option => [cwd, getFolderName(cwd), cwd]);
  const sources = new Set(Array.from(usage?.sources.values() ?? [], (source) => source || NOT_IMPORTED));
  return (
    <>
      <Choice
        name="Project"
        any="all projects"
        options={byName.sort(([, a], [, b]) => a.localeCompare(b))}
        chosen={choices.project}
        onChoose={(project) => onChange({ project })}
      />
      <Choice
        name="Source"
        any="all sources"
        options={[...sources].sort().map((source) => [source, source])}
        chosen={choices.source}
        onChoose={(source) => onChange({ source })}
      />
      <Choice
        name="Time"
        any="all time"
        options={PERIODS.map((period) => [period, period])}
        chosen={choices.time}
        onChoose={(time) => onChange({ time })}
      />
      <Choice
        name="Order"
        any={`${SORTS[0]} first`}
        options={SORTS.slice(1).map((sort) => [sort, `by ${sort}`])}
        chosen={choices.sort}
        onChoose={(sort) => onChange({ sort })}
      />
    </>
  );
}

type Option = readonly [value: string, word: string, hint?: string];

interface ChoiceProps {
  readonly name: string;
  /** What it is called that nothing is chosen. */
  readonly any: string;
  readonly options: readonly Option[];
  readonly chosen: string | undefined;
  readonly onChoose: (value: string | undefined) => void;
}

/** A choice of one among many, or of none. What the address names is there even if no session has it. */
function Choice({ name, any, options, chosen, onChoose }: ChoiceProps) {
  const isListed = chosen === undefined || options.some(([value]) => value === chosen);
  const all = isListed ? options : [...options, [chosen, chosen] as const];
  return (
    <label class={chosen === undefined ? "choice" : "choice is-chosen"}>
      <span class="sr-only">{name}</span>
      <select
        value={chosen ?? ""}
        onChange={({ currentTarget }) => onChoose(currentTarget.value || undefined)}
      >
        <option value="">{any}</option>
        {all.map(([value, word, hint]) => (
          <option key={value} value={value} title={hint}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}
