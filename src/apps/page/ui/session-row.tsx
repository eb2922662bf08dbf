import { useRef, useState } from "preact/hooks";
import { toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { formatCount, formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { getFolderName } from "../../../core/facts/session-title.ts";
import { explainCost, formatCost, type Spent } from "../../../core/facts/usage-tally.ts";
import { formatDateAndTime, formatTokens } from "../model/format.ts";
import { cutAtWords, type ListHit, type SessionNode } from "../model/session-list.ts";
import { ChevronIcon } from "./icons.tsx";
import { useAnswer } from "./use-server.ts";

/** Hits of a session that are shown. */
const MAX_HITS = 3;

interface SessionRowProps {
  readonly node: SessionNode;
  /** Words that it was found by. */
  readonly wanted: string;
  /** What was found in contents, by the address of the session. */
  readonly hits: ReadonlyMap<string, readonly ListHit[]>;
}

/** A session of the list, what was found in it, and on demand the sessions of its subagents. */
export function SessionRow({ node, wanted, hits }: SessionRowProps) {
  const { session, spent, subagents, isAround } = node;
  const { href, title, cwd, modified, messageCount, issueCount, path, isFork } = session;
  const row = useRef<HTMLLIElement>(null);
  const [isChosenOpen, setOpen] = useState<boolean>();
  const isOpen = isChosenOpen ?? isAround;
  const found = hits.get(href) ?? [];
  const said = [formatDateAndTime(modified), formatCounted(messageCount, "message", "messages")].filter(
    Boolean,
  );
  return (
    <li class="session-row" ref={row}>
      <a href={href} title={path}>
        <span class="session-facts">
          <h2>
            <Marked line={title} wanted={wanted} />
          </h2>
          <p>
            <Marked line={getFolderName(cwd)} wanted={wanted} />
            {cwd !== "" && " · "}
            {said.join(" · ")}
            {isFork && (
              <span class="chip" title="Begun as a copy of another session">
                fork
              </span>
            )}
            <Failures row={row} href={href} />
            {issueCount > 0 && (
              <span class="chip is-removed">{formatCounted(issueCount, "issue", "issues")}</span>
            )}
          </p>
        </span>
        {spent !== undefined && spent.calls > 0 && <Cost spent={spent} />}
      </a>
      {found.slice(0, MAX_HITS).map(({ href: address, word, isLeft, snippet: [before, match, after] }) => (
        <a key={address} class="session-hit" href={address}>
          <span class="tree-kind">{word}</span> {before}
          <mark>{match}</mark>
          {after}
          {isLeft && <span class="chip">other branch</span>}
        </a>
      ))}
      {found.length > MAX_HITS && (
        <p class="session-more">and {formatCount(found.length - MAX_HITS)} more in this session</p>
      )}
      {subagents.length > 0 && (
        <button type="button" class="subagents-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <ChevronIcon />
          {formatCounted(subagents.length, "subagent", "subagents")}
        </button>
      )}
      {isOpen && (
        <ul class="subagents">
          {subagents.map((one) => (
            <SessionRow key={one.session.href} node={one} wanted={wanted} hits={hits} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** What a session cost, by its records or by prices, and how many tokens it took. */
function Cost({ spent }: { spent: Spent }) {
  const { total } = spent;
  const hint = `${formatCount(total)} tokens on all branches, subagents included`;
  return (
    <span class="session-cost" title={joinNonempty("; ", hint, explainCost(spent))}>
      <span>{formatCost(spent)}</span>
      <span class="muted">{formatTokens(total)} tokens</span>
    </span>
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

/** How often something failed in a session, which needs its whole file; nothing until that is known. */
function Failures({ row, href }: { row: { current: HTMLElement | null }; href: string }) {
  const answer = useAnswer(`${href}/failures`, countFailed, row);
  if (answer.state === "waiting") return null;
  if (answer.state === "failed") return <span title={answer.reason}> · failures unknown</span>;
  if (answer.value === 0) return null;
  return (
    <span class="chip is-failed" title="Tools, commands and answers that failed, on all branches">
      {formatCount(answer.value)} failed
    </span>
  );
}

function countFailed(json: unknown): number {
  return toNumber(toRecord(json)["failed"]);
}
