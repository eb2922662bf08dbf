import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { folderName } from "../../view/session-title.ts";
import type { SessionTotals } from "../../view/session-totals.ts";
import { count, counted, dollars } from "../../view/words.ts";
import { dateAndTimeOf } from "../model/format.ts";
import {
  cutAtWords,
  type ListedSession,
  type ListHit,
  readHits,
  readTotals,
  type SessionList,
  sessionsNamed,
} from "../model/session-list.ts";
import { commandOf } from "./keys.ts";
import { SearchBox } from "./search-box.tsx";
import { ThemeButton } from "./theme-button.tsx";

/** Hits of a session that are shown. */
const MOST_HITS = 3;

/** What a search through contents has come to. */
type Contents =
  | { readonly state: "idle" }
  | { readonly state: "searching"; readonly text: string }
  | { readonly state: "found"; readonly text: string; readonly hits: readonly ListHit[] }
  | { readonly state: "failed"; readonly text: string; readonly reason: string };

/** A list of sessions, with a filter by name as one writes and a search through contents on Enter. */
export function SessionIndex({ list }: { list: SessionList }) {
  const [text, setText] = useState("");
  const [contents, search, forget] = useContents(list.searchUrl);
  useEffect(() => {
    document.title = "Sessions · sessiontree";
  }, []);
  const hits = contents.state === "found" ? contents.hits : [];
  const found = new Set(hits.map(({ session }) => session));
  const sessions =
    contents.state === "found"
      ? list.sessions.filter(({ href }) => found.has(href))
      : sessionsNamed(list.sessions, text);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (commandOf(event, false) !== "search") return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const change = (value: string) => {
    setText(value);
    forget();
  };
  return (
    <div class="index">
      <header class="top-bar">
        <div class="title">
          <h1>Sessions</h1>
          <p title={list.name}>{list.name}</p>
        </div>
        <SearchBox
          field={field}
          placeholder="Filter; Enter searches contents (/)"
          label="Filter sessions; Enter searches their contents"
          text={text}
          onText={change}
          onKeyDown={(event) => {
            if (event.key === "Enter") search(text);
            if (event.key === "Escape") change("");
          }}
        />
        <ThemeButton />
      </header>
      <main class="index-main">
        <div class="index-bar">
          <span role="status">{statusOf(contents, sessions.length, hits.length)}</span>
          {text.trim() !== "" && contents.state === "idle" && (
            <button type="button" class="link-button" onClick={() => search(text)}>
              Search contents for “{text.trim()}”
            </button>
          )}
        </div>
        {sessions.length === 0 ? (
          <NoSessions list={list} contents={contents} text={text.trim()} />
        ) : (
          <ul class="session-list">
            {sessions.map((session) => (
              <SessionRow
                key={session.href}
                session={session}
                wanted={contents.state === "found" ? "" : text}
                hits={hits.filter((hit) => hit.session === session.href)}
              />
            ))}
          </ul>
        )}
      </main>
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

interface NoSessionsProps {
  readonly list: SessionList;
  readonly contents: Contents;
  readonly text: string;
}

/** Says why nothing is listed, and what to do. */
function NoSessions({ list, contents, text }: NoSessionsProps) {
  if (contents.state === "searching") return null;
  return (
    <div class="index-empty">
      {list.sessions.length === 0 ? (
        <>
          <p>There are no sessions in {list.name}.</p>
          <p>
            Sessions are files that end in <code>.jsonl</code>. <code>sessiontree view FOLDER</code> lists
            another folder, <code>sessiontree view --all</code> all projects, and{" "}
            <code>sessiontree import</code> brings in those of other programs. Reload this page when an agent
            has written one.
          </p>
        </>
      ) : contents.state === "found" ? (
        <p>No session says “{contents.text}”. Try fewer words: they are looked for exactly as they stand.</p>
      ) : (
        <p>
          No title, project or id has “{text}”. Press Enter to search what was said in{" "}
          {counted(list.sessions.length, "session", "sessions")}.
        </p>
      )}
    </div>
  );
}

interface SessionRowProps {
  readonly session: ListedSession;
  /** Words that it was found by. */
  readonly wanted: string;
  readonly hits: readonly ListHit[];
}

function SessionRow({ session, wanted, hits }: SessionRowProps) {
  const { href, title, cwd, modified, messageCount, issueCount, path } = session;
  const row = useRef<HTMLLIElement>(null);
  const totals = useTotals(row, href);
  const said = [dateAndTimeOf(modified), counted(messageCount, "message", "messages")].filter(Boolean);
  return (
    <li class="session-row" ref={row}>
      <a href={href} title={path}>
        <h2>
          <Marked line={title} wanted={wanted} />
        </h2>
        <p>
          <Marked line={folderName(cwd)} wanted={wanted} />
          {cwd !== "" && " · "}
          {said.join(" · ")}
          <Totals totals={totals} />
          {issueCount > 0 && <span class="chip is-removed">{counted(issueCount, "issue", "issues")}</span>}
        </p>
      </a>
      {hits.slice(0, MOST_HITS).map(({ href: address, word, snippet: [before, match, after] }) => (
        <a key={address} class="session-hit" href={address}>
          <span class="tree-kind">{word}</span> {before}
          <mark>{match}</mark>
          {after}
        </a>
      ))}
      {hits.length > MOST_HITS && (
        <p class="session-more">and {count(hits.length - MOST_HITS)} more in this session</p>
      )}
    </li>
  );
}

/** A line in which the words that were looked for are marked. */
function Marked({ line, wanted }: { line: string; wanted: string }) {
  return (
    <>
      {cutAtWords(line, wanted).map((piece, index) =>
        index % 2 === 1 ? <mark key={index}>{piece}</mark> : piece,
      )}
    </>
  );
}

/** What a session cost, and how often something failed in it; nothing until that is known. */
function Totals({ totals }: { totals: SessionTotals | string | undefined }) {
  if (totals === undefined) return null;
  if (typeof totals === "string") return <span title={totals}> · cost unknown</span>;
  const { failed, cost } = totals;
  return (
    <>
      {cost !== null && (
        <span title="What its calls of models cost, on all branches"> · {dollars(cost)}</span>
      )}
      {failed > 0 && (
        <span class="chip is-failed" title="Tools, commands and answers that failed, on all branches">
          {count(failed)} failed
        </span>
      )}
    </>
  );
}

/**
 * Asks for the totals of a session once its row comes into sight, since they need the whole file.
 *
 * @returns Undefined until they are known; a text says why they are not.
 */
function useTotals(row: RefObject<HTMLElement | null>, href: string): SessionTotals | string | undefined {
  const [totals, setTotals] = useState<SessionTotals | string>();
  useEffect(() => {
    const element = row.current;
    if (element === null) return;
    const controller = new AbortController();
    const observer = new IntersectionObserver((seen) => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      fetchJson(`${href}/totals`, controller.signal).then(
        (json) => setTotals(readTotals(json)),
        (error: unknown) => {
          if (!controller.signal.aborted) setTotals(reasonOf(error));
        },
      );
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      controller.abort();
    };
  }, [href]);
  return totals;
}

/** Searches through contents, one search at a time. */
function useContents(searchUrl: string): [Contents, (text: string) => void, () => void] {
  const [contents, setContents] = useState<Contents>({ state: "idle" });
  const running = useRef<AbortController | undefined>(undefined);
  const forget = () => {
    running.current?.abort();
    setContents({ state: "idle" });
  };
  const search = (wanted: string) => {
    const text = wanted.trim();
    forget();
    if (text === "") return;
    const controller = new AbortController();
    running.current = controller;
    setContents({ state: "searching", text });
    findHits(searchUrl, text, controller.signal).then(
      (hits) => setContents({ state: "found", text, hits }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        setContents({ state: "failed", text, reason: reasonOf(error) });
      },
    );
  };
  return [contents, search, forget];
}

async function findHits(searchUrl: string, text: string, signal: AbortSignal): Promise<ListHit[]> {
  return readHits(await fetchJson(`${searchUrl}?${new URLSearchParams({ q: text })}`, signal));
}

/** @throws {Error} With what the server said, if that is no answer. */
async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown";
}
