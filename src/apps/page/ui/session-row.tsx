import type { TargetedMouseEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import { toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { formatCount, formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { getFolderName } from "../../../core/facts/session-title.ts";
import { formatRelativeDay, formatTimeOfDay } from "../../../core/facts/times.ts";
import { explainCost, formatCost, type Spent } from "../../../core/facts/usage-tally.ts";
import { formatDateAndTime, formatTokens } from "../model/format.ts";
import type { IndexUsage } from "../model/index-usage.ts";
import { cutAtWords, type ListHit, type SessionNode } from "../model/session-list.ts";
import { FactLine, LinkButton } from "./controls.tsx";
import { ChevronIcon } from "./icons.tsx";
import { makeLinkTo } from "./use-position.ts";
import { useAnswer } from "./use-server.ts";

/** Maximum number of hits that a session initially shows. */
const MAX_HITS = 3;

interface SessionRowProps {
  readonly node: SessionNode;
  /** Usage that the program and the model of the session are read from; undefined until it is known. */
  readonly usage: IndexUsage | undefined;
  /** Words that matched the session. */
  readonly wanted: string;
  /** Content hits, by the address of the session. */
  readonly hits: ReadonlyMap<string, readonly ListHit[]>;
  /** Address of the link through which the reader left before coming back; it is kept in view. */
  readonly leftThrough: string | undefined;
}

/** Session in the list, its hits and, on demand, its subagents' sessions. */
export function SessionRow({ node, usage, wanted, hits, leftThrough }: SessionRowProps) {
  const { session, spent, subagents, isAround } = node;
  const { href, title, cwd, modified, messageCount, issueCount, path, isFork } = session;
  const row = useRef<HTMLLIElement>(null);
  const [isChosenOpen, setOpen] = useState<boolean>();
  const isLeftThrough = leftThrough !== undefined && subagents.some((one) => hasLink(one, hits, leftThrough));
  const isOpen = isChosenOpen ?? (isAround || isLeftThrough);
  const said = [
    formatLastUse(modified),
    formatCounted(messageCount, "message", "messages"),
    usage?.sources.get(href) ?? "",
    usage?.models.get(href) ?? "",
  ].filter(Boolean);
  return (
    <li class="session-row" ref={row}>
      <a href={href} title={path} onClick={openFailure}>
        <span class="session-facts">
          <h2>
            <Marked line={title} wanted={wanted} />
          </h2>
          <p>
            <Marked line={getFolderName(cwd)} wanted={wanted} />
            {cwd !== "" && " · "}
            <FactLine facts={said} />
            {isFork && (
              <span class="chip" title="Started as a copy of another session">
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
      <Hits found={hits.get(href) ?? NO_HITS} leftThrough={leftThrough} />
      {subagents.length > 0 && (
        <button type="button" class="subagents-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <ChevronIcon />
          {formatCounted(subagents.length, "subagent", "subagents")}
        </button>
      )}
      {isOpen && (
        <ul class="subagents">
          {subagents.map((one) => (
            <SessionRow key={one.session.href} node={one} {...{ usage, wanted, hits, leftThrough }} />
          ))}
        </ul>
      )}
    </li>
  );
}

const NO_HITS = [] as const;

/** Returns whether a session or one of its subagents' sessions has a link with an address. */
function hasLink(node: SessionNode, hits: SessionRowProps["hits"], address: string): boolean {
  const { href } = node.session;
  return (
    href === address ||
    (hits.get(href) ?? NO_HITS).some((hit) => hit.href === address) ||
    node.subagents.some((one) => hasLink(one, hits, address))
  );
}

/** Formats the last use of a session: a relative day if it was recent, and the time; empty if it is unknown. */
function formatLastUse(modified: string): string {
  const timeMs = Date.parse(modified);
  const day = formatRelativeDay(timeMs, Date.now());
  if (day === "") return "";
  if (!/^\p{L}/u.test(day)) return `used ${formatDateAndTime(modified)}`;
  const word = day === "Today" || day === "Yesterday" ? day.toLowerCase() : day;
  return `used ${word}, ${formatTimeOfDay(timeMs)}`;
}

interface HitsProps {
  readonly found: readonly ListHit[];
  readonly leftThrough: string | undefined;
}

/** Hits in a session: the best matches and, on demand, the others. */
function Hits({ found, leftThrough }: HitsProps) {
  const [isWhole, setWhole] = useState(found.slice(MAX_HITS).some(({ href }) => href === leftThrough));
  const list = useRef<HTMLDivElement>(null);
  if (found.length === 0) return null;
  const more = found.length - MAX_HITS;
  const showAll = () => {
    setWhole(true);
    // The button no longer exists then, so the focus moves to the first hit that it revealed.
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>("a")[MAX_HITS]?.focus());
  };
  return (
    <div ref={list}>
      {found.slice(0, isWhole ? undefined : MAX_HITS).map((hit) => (
        <Hit key={hit.href} hit={hit} />
      ))}
      {more > 0 && !isWhole && (
        <LinkButton class="session-more" onClick={showAll}>
          {formatCount(more)} more in this session
        </LinkButton>
      )}
    </div>
  );
}

function Hit({ hit }: { hit: ListHit }) {
  const {
    href,
    word,
    isLeft,
    snippet: [before, match, after],
  } = hit;
  return (
    <a class="session-hit" href={href}>
      <span>
        <span class="tree-kind">{word}</span> {before}
        <mark>{match}</mark>
        {after}
        {isLeft && <span class="chip">other branch</span>}
      </span>
    </a>
  );
}

/** Cost of a session, according to its records or to prices, and its number of tokens. */
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

/** Line with the words in the query marked. */
function Marked({ line, wanted }: { line: string; wanted: string }) {
  return (
    <>
      {cutAtWords(line, wanted).map((piece, index) =>
        index % 2 === 1 ? <mark key={index}>{piece}</mark> : piece,
      )}
    </>
  );
}

/**
 * Number of failures in a session, which requires reading its whole file; shows nothing until the number is known. Leads to the
 * first.
 */
function Failures({ row, href }: { row: { current: HTMLElement | null }; href: string }) {
  const answer = useAnswer(`${href}/failures`, readFailures, row);
  if (answer.state === "waiting") return null;
  if (answer.state === "failed") return <span title={answer.reason}> · failures unknown</span>;
  const { failed, first } = answer.value;
  if (failed === 0) return null;
  return (
    <span
      class="chip is-failed"
      title="Tools, commands, and answers that failed, on all branches; click to open the first"
      data-first={first}
    >
      {formatCount(failed)} failed
    </span>
  );
}

/** Opens the first failure instead of the beginning if the number of failures was clicked: a link cannot contain another link. */
function openFailure(event: TargetedMouseEvent<HTMLAnchorElement>): void {
  const { currentTarget: link, target, ctrlKey, metaKey, shiftKey } = event;
  const number = target instanceof Element ? target.closest<HTMLElement>("[data-first]") : null;
  if (number === null || ctrlKey || metaKey || shiftKey) return;
  event.preventDefault();
  location.assign(link.href + makeLinkTo(number.dataset["first"] ?? ""));
}

function readFailures(json: unknown): { readonly failed: number; readonly first: string } {
  const { failed, first } = toRecord(json);
  return { failed: toNumber(failed), first: toText(first) };
}
