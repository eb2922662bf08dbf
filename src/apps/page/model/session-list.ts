import { fieldsOf, listOf, numberOf } from "../../../core/context/entry-fields.ts";
import { textOf } from "../../../core/context/message-parts.ts";
import { kindOfMessage } from "../../text/entry-kind.ts";
import { finderOf } from "./search.ts";

/** A session of a list. */
export interface ListedSession {
  /** Address of its page. */
  readonly href: string;
  readonly path: string;
  readonly id: string;
  readonly cwd: string;
  readonly title: string;
  readonly created: string;
  readonly modified: string;
  readonly messageCount: number;
  readonly issueCount: number;
  /** Whether it was begun as a copy of another one. */
  readonly isFork: boolean;
  /** Address of the session that started this one as a subagent's; undefined for others. */
  readonly startedBy: string | undefined;
}

/** What a list of sessions is made of. */
export interface SessionList {
  /** What the list is called: a folder, or all projects. */
  readonly name: string;
  /** Address that searches through contents, without the text to look for. */
  readonly searchUrl: string;
  /** Address that tells what the sessions used. */
  readonly usageUrl: string;
  /** Latest first. */
  readonly sessions: readonly ListedSession[];
}

/** An entry in which a text was found. */
export interface ListHit {
  /** Address of the entry on the page of its session, and of that page. */
  readonly href: string;
  readonly session: string;
  /** Who said it, as a person calls that. */
  readonly word: string;
  /** Whether it is on a branch that was left. */
  readonly isLeft: boolean;
  /** The line around the match that fits best: what stands before, the match, what stands behind. */
  readonly snippet: readonly [before: string, match: string, after: string];
}

/** Reads the list that a server put into the page. */
export function readSessionList(json: string): SessionList {
  const { name, searchUrl, usageUrl, sessions } = fieldsOf(JSON.parse(json));
  return {
    name: textOf(name),
    searchUrl: textOf(searchUrl),
    usageUrl: textOf(usageUrl),
    sessions: listOf(sessions).map((one) => {
      const { href, path, id, cwd, title, created, modified, messageCount, issueCount, isFork, startedBy } =
        fieldsOf(one);
      return {
        href: textOf(href),
        path: textOf(path),
        id: textOf(id),
        cwd: textOf(cwd),
        title: textOf(title),
        created: textOf(created),
        modified: textOf(modified),
        messageCount: numberOf(messageCount),
        issueCount: numberOf(issueCount),
        isFork: isFork === true,
        startedBy: textOf(startedBy) || undefined,
      };
    }),
  };
}

/** Reads what a search through contents found. */
export function readHits(json: unknown): ListHit[] {
  return listOf(json).map((one) => {
    const { href, session, role, branch, snippet: line, match } = fieldsOf(one);
    const { start: from, length } = fieldsOf(match);
    const [snippet, start] = [textOf(line), numberOf(from)];
    const end = start + numberOf(length);
    return {
      href: textOf(href),
      session: textOf(session),
      word: kindOfMessage({ role }).word,
      isLeft: branch === "left",
      snippet: [snippet.slice(0, start), snippet.slice(start, end), snippet.slice(end)],
    };
  });
}

/** Cuts a line into pieces, of which every second one is a word that was looked for. */
export function cutAtWords(line: string, text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, length } of finderOf(text).all(line)) {
    if (start < from) continue;
    pieces.push(line.slice(from, start), line.slice(start, start + length));
    from = start + length;
  }
  return [...pieces, line.slice(from)];
}

/** Keeps the sessions whose title, folder, path or id holds each word of a text. */
export function sessionsNamed(sessions: readonly ListedSession[], text: string): readonly ListedSession[] {
  if (text.trim() === "") return sessions;
  const { best } = finderOf(text);
  return sessions.filter(
    ({ title, cwd, path, id }) => best(`${title}\n${cwd}\n${path}\n${id}`) !== undefined,
  );
}
