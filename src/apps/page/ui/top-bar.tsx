import type { RefObject } from "preact";
import { useMemo } from "preact/hooks";
import { formatCount, formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { getFolderName } from "../../../core/facts/session-title.ts";
import { formatDuration, getMessageTimeRange } from "../../../core/facts/times.ts";
import { explainCost, formatCost } from "../../../core/facts/usage-tally.ts";
import { formatDateAndTime } from "../model/format.ts";
import type { View } from "../model/navigation.ts";
import { findSource } from "../model/session-model.ts";
import { getUsage } from "../model/usage.ts";
import { FactLine, SearchBox, Segments, ThemeButton } from "./controls.tsx";
import { HELP_TITLE } from "./help.tsx";
import {
  BackIcon,
  DownIcon,
  DownloadIcon,
  HelpIcon,
  IconButton,
  PrintIcon,
  SearchIcon,
  TerminalIcon,
  TreeIcon,
  UnfoldIcon,
  UpIcon,
} from "./icons.tsx";
import type { Following } from "./live-session.ts";
import { usePage } from "./page-context.ts";
import type { Panels, Unfolded } from "./use-panels.ts";
import type { Search } from "./use-search.ts";

interface TopBarProps {
  readonly view: View;
  readonly search: Search;
  readonly panels: Panels;
  /** Opens or closes all folds. */
  readonly onFolds: () => void;
  readonly following: Following;
  /** Address of the session list, if any. */
  readonly indexUrl: string | undefined;
}

/** Bar at the top: the session, the view, search, and tools. */
export function TopBar({ view, search, panels, onFolds, following, indexUrl }: TopBarProps) {
  const [unfolded, unfold] = panels.unfolded;
  const [isTreeShown, showTree] = panels.tree;
  const toggle = (part: Unfolded) => unfold(unfolded === part ? "nothing" : part);
  const { session, go } = usePage();
  const views = listViews(view, session.issues.length);
  return (
    <header class={`top-bar has-open-${unfolded}`}>
      <IconButton icon={TreeIcon} label="Tree" shortcut="t" onClick={() => showTree(!isTreeShown)} />
      {indexUrl !== undefined && (
        <a class="icon-button" href={indexUrl} aria-label="All sessions" title="All sessions">
          <BackIcon />
        </a>
      )}
      <div class="title">
        <h1 title={session.title}>{session.title}</h1>
        <SessionFacts />
      </div>
      {following !== "never" && (
        <span class={`live is-${following}`} role="status" title={FOLLOWING_HINTS[following]}>
          {FOLLOWING_WORDS[following]}
        </span>
      )}
      <IconButton
        icon={SearchIcon}
        class="only-narrow"
        label="Search"
        isExpanded={unfolded === "search"}
        onClick={() => toggle("search")}
      />
      <button
        type="button"
        class="menu-button only-narrow"
        aria-expanded={unfolded === "menu"}
        title="Views and tools"
        onClick={() => toggle("menu")}
      >
        {views.find(([one]) => one === view)?.[1]}
        <DownIcon />
      </button>
      <Segments
        label="View"
        choices={views}
        chosen={view}
        onChoose={(one) => {
          go({ go: "view", view: one });
          unfold("nothing");
        }}
      />
      <SearchField search={search} field={panels.searchField} />
      <Tools panels={panels} onFolds={onFolds} />
    </header>
  );
}

/** Lists the views to choose from, each with its label and its tooltip. */
function listViews(view: View, issueCount: number): (readonly [View, string, string])[] {
  const issueWord = issueCount === 0 ? "Issues" : `Issues ${formatCount(issueCount)}`;
  return [
    ["path", "Conversation", "The conversation on this branch"],
    ["model", "Model's view", "Exactly what the model sees at the end of this branch"],
    ...(view === "beside" ? [["beside", "Side by side", "Two branches, from where they part"] as const] : []),
    ["changes", "Changes", "Files that were changed on this branch, with the edits in their order"],
    ["usage", "Usage", "Tokens, cache and cost (u)"],
    ...(issueCount > 0 ? [["issues", issueWord, "What is wrong with the file"] as const] : []),
  ];
}

const FOLLOWING_HINTS = {
  now: "A program is writing to the session",
  quiet: "Shows what is appended to the session",
  ended: "The command that served this page has ended: what is appended now is not shown",
};

const FOLLOWING_WORDS = { now: "live", quiet: "", ended: "not live" };

/** Buttons at the right edge. */
function Tools({ panels, onFolds }: Pick<TopBarProps, "panels" | "onFolds">) {
  const [, showDialog] = panels.dialog;
  return (
    <div class="tools">
      <IconButton icon={UnfoldIcon} label="Open or close everything" shortcut="e" onClick={onFolds} />
      <ThemeButton />
      <IconButton
        icon={DownloadIcon}
        label="Download"
        hint="Download Markdown, to read, or JSONL"
        onClick={() => showDialog("downloads")}
      />
      <IconButton icon={PrintIcon} label="Print" hint="Print this branch" onClick={() => print()} />
      <IconButton
        icon={TerminalIcon}
        label="Commands"
        hint="Continue it in a terminal (c)"
        onClick={() => showDialog("commands")}
      />
      <IconButton icon={HelpIcon} label={HELP_TITLE} shortcut="?" onClick={() => showDialog("help")} />
    </div>
  );
}

/** Facts about the session as a whole: its time, duration, cost, and origin. */
function SessionFacts() {
  const { session, listed } = usePage();
  const { header } = session;
  const all = listed ?? getUsage(session).all;
  const [firstMs, lastMs] = useMemo(() => getMessageTimeRange(session.tree), [session]);
  const source = findSource(session);
  const cwd = header?.cwd ?? "";
  const started = formatDateAndTime(header?.timestamp);
  // The most important facts come first, because a narrow window cuts off the end.
  const facts: readonly (readonly [text: string, hint: string])[] = [
    [
      all.calls === 0 && all.cost === null ? "" : `cost ${formatCost(all)}`,
      formatCost(all) === "–"
        ? "The cost of its model calls is not known"
        : joinNonempty("; ", "Cost of its model calls, on all branches", explainCost(all)),
    ],
    [
      lastMs > firstMs ? formatDuration(lastMs - firstMs) : "",
      "From its first message to its last, with all pauses",
    ],
    [getFolderName(cwd), `Folder of its project: ${cwd}`],
    [source === undefined ? "" : `from ${source}`, "Program that it was imported from"],
    [started === "" ? "" : `started ${started}`, "Start time"],
  ];
  const shown = facts.filter(([text]) => text !== "");
  return (
    <p title={shown.map(([text, hint]) => `${text}: ${hint}`).join("\n")}>
      <FactLine facts={shown.map(([text]) => text)} />
    </p>
  );
}

function SearchField({ search, field }: { search: Search; field: RefObject<HTMLInputElement | null> }) {
  const { text, isActive, hits, isSearching, current, setText, step } = search;
  return (
    <SearchBox
      field={field}
      placeholder="Search"
      label="Search in all entries"
      text={text}
      onText={setText}
      onKeyDown={(event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        step(event.shiftKey ? -1 : 1);
      }}
    >
      {isActive && (
        <>
          <span class="search-count" title={countHint(current, hits.length)}>
            {current === -1
              ? `${formatCount(hits.length)} found${isSearching ? "…" : ""}`
              : `${formatCount(current + 1)} of ${formatCount(hits.length)}`}
          </span>
          <IconButton icon={UpIcon} label="Previous hit" onClick={() => step(-1)} />
          <IconButton icon={DownIcon} label="Next hit" onClick={() => step(1)} />
        </>
      )}
    </SearchBox>
  );
}

function countHint(current: number, hits: number): string {
  if (hits === 0) return "Nothing found";
  const found = formatCounted(hits, "entry contains", "entries contain");
  return current === -1
    ? `${found} this; Enter goes to the first`
    : `Number ${formatCount(current + 1)} of those found; Enter or n goes to the next`;
}
