import { toArray, toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { type Contents, useAnswer } from "./use-server.ts";

interface NoSessionsProps {
  /** Name of the list, and its number of sessions. */
  readonly name: string;
  readonly all: number;
  readonly contents: Contents;
  readonly text: string;
  /** Address of the sessions that can be imported; undefined for a folder. */
  readonly importableUrl: string | undefined;
}

/** Explains why nothing is listed, and what to do about it. */
export function NoSessions({ name, all, contents, text, importableUrl }: NoSessionsProps) {
  if (contents.state === "searching") return null;
  return (
    <div class="index-empty">
      {all === 0 ? (
        <>
          <p>There are no sessions in {importableUrl === undefined ? name : "any project"}.</p>
          <p>
            Sessions are files that end in <code>.jsonl</code>. <code>sessiontree view FOLDER</code> lists
            another folder, <code>sessiontree view --all</code> all projects, and{" "}
            <code>sessiontree import</code> brings in those of other programs. Reload this page when an agent
            has written one.
          </p>
          <Importable url={importableUrl} />
        </>
      ) : contents.state === "found" ? (
        <p>No session says “{contents.text}”. Try fewer words: all of them must occur in one entry.</p>
      ) : text === "" ? (
        <p>No session matches this project, source, and time.</p>
      ) : (
        <p>
          No title, project or id has “{text}”. Press Enter to search what was said in{" "}
          {formatCounted(all, "session", "sessions")}.
        </p>
      )}
    </div>
  );
}

/** Sessions of other programs that can be imported, as reported by the command that lists sessions. */
function Importable({ url }: { url: string | undefined }) {
  const answer = useAnswer(url, readImportable);
  if (answer.state !== "there" || answer.value.length === 0) return null;
  const all = answer.value.reduce((sum, { sessions }) => sum + sessions, 0);
  return (
    <>
      <p>Other programs have {formatCounted(all, "session")} that can be imported, plus subagent sessions:</p>
      <ul class="index-importable">
        {answer.value.map(({ source, sessions }) => (
          <li key={source}>
            {source} <span class="muted">{formatCount(sessions)}</span>
          </li>
        ))}
      </ul>
      <p>
        To import them: <code>sessiontree import --all</code>
      </p>
    </>
  );
}

function readImportable(json: unknown): readonly { readonly source: string; readonly sessions: number }[] {
  return toArray(json).map((one) => {
    const { source, sessions } = toRecord(one);
    return { source: toText(source), sessions: toNumber(sessions) };
  });
}
