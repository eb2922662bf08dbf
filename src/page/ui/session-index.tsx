import { useEffect, useRef, useState } from "preact/hooks";
import { count, counted, dateAndTimeOf } from "../model/format.ts";
import {
  folderName,
  type ListedSession,
  type ListHit,
  readHits,
  type SessionList,
  sessionsNamed,
} from "../model/session-list.ts";
import { CloseIcon, SearchIcon } from "./icons.tsx";
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
  const change = (value: string) => {
    setText(value);
    forget();
  };
  return (
    <div class="index">
      <header class="top-bar">
        <div class="title">
          <h1>Sessions</h1>
          <p title={list.place}>{list.place}</p>
        </div>
        <search class="search">
          <SearchIcon />
          <input
            type="text"
            placeholder="Filter; Enter searches contents"
            aria-label="Filter sessions; Enter searches their contents"
            value={text}
            onInput={({ currentTarget }) => change(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") search(text);
              if (event.key === "Escape") change("");
            }}
          />
          {text !== "" && (
            <button
              type="button"
              class="icon-button"
              aria-label="Clear the search"
              onClick={() => change("")}
            >
              <CloseIcon />
            </button>
          )}
        </search>
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
        <ul class="session-list">
          {sessions.map((session) => (
            <SessionRow
              key={session.href}
              session={session}
              hits={hits.filter((hit) => hit.session === session.href)}
            />
          ))}
        </ul>
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
      return sessions === 0 ? "No sessions." : counted(sessions, "session", "sessions");
  }
}

function SessionRow({ session, hits }: { session: ListedSession; hits: readonly ListHit[] }) {
  const { href, title, cwd, modified, messageCount, issueCount, path } = session;
  return (
    <li class="session-row">
      <a href={href} title={path}>
        <h2>{title}</h2>
        <p>
          {[folderName(cwd), dateAndTimeOf(modified), counted(messageCount, "message", "messages")]
            .filter(Boolean)
            .join(" · ")}
          {issueCount > 0 && <span class="chip is-removed">{counted(issueCount, "issue", "issues")}</span>}
        </p>
      </a>
      {hits.slice(0, MOST_HITS).map((hit) => (
        <a key={hit.href} class="session-hit" href={hit.href}>
          <span class="tree-kind">{hit.role}</span> {hit.snippet}
        </a>
      ))}
      {hits.length > MOST_HITS && (
        <p class="session-more">and {count(hits.length - MOST_HITS)} more in this session</p>
      )}
    </li>
  );
}

/** Searches through contents, one search at a time. */
function useContents(searchUrl: string): [Contents, (text: string) => void, () => void] {
  const [contents, setContents] = useState<Contents>({ state: "idle" });
  const running = useRef<AbortController | undefined>(undefined);
  const forget = () => {
    running.current?.abort();
    setContents({ state: "idle" });
  };
  const search = (given: string) => {
    const text = given.trim();
    forget();
    if (text === "") return;
    const controller = new AbortController();
    running.current = controller;
    setContents({ state: "searching", text });
    findHits(searchUrl, text, controller.signal).then(
      (hits) => setContents({ state: "found", text, hits }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        setContents({ state: "failed", text, reason: error instanceof Error ? error.message : "unknown" });
      },
    );
  };
  return [contents, search, forget];
}

async function findHits(searchUrl: string, text: string, signal: AbortSignal): Promise<ListHit[]> {
  const response = await fetch(`${searchUrl}?${new URLSearchParams({ q: text })}`, { signal });
  if (!response.ok) throw new Error(await response.text());
  return readHits(await response.json());
}
