import { answerOf } from "../../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../../core.ts";
import { CopyIcon, EndHereIcon, EyeIcon, IconButton, LinkIcon } from "./icons.tsx";
import { usePage } from "./page-context.ts";
import { linkTo } from "./use-position.ts";

interface EntryActionsProps {
  readonly entry: AnySessionEntry;
  readonly ordinal: number;
  /** Whether the path ends here already. */
  readonly isEnd: boolean;
  /** Whether there is little room: on a phone only the first action is shown. */
  readonly isNarrow?: boolean;
  /** Returns what is copied of it. */
  readonly textOf: () => string;
}

/** What can be done with an entry. Each has its room also while it is not shown, so that it covers nothing. */
export function EntryActions({ entry, ordinal, isEnd, isNarrow = false, textOf }: EntryActionsProps) {
  const { session, go, copy } = usePage();
  const seen = `What the model saw ${momentOf(answerOf(session, ordinal), ordinal)}`;
  return (
    <span class={isNarrow ? "entry-actions is-narrow no-print" : "entry-actions no-print"}>
      <IconButton
        icon={EyeIcon}
        hint={`${seen} (m)`}
        label={seen}
        onClick={() => go({ go: "context", ordinal })}
      />
      <IconButton
        icon={EndHereIcon}
        hint={isEnd ? "The path ends here" : "End the path here (x)"}
        label="End the path here"
        isDisabled={isEnd}
        onClick={() => go({ go: "end", ordinal })}
      />
      <IconButton
        icon={CopyIcon}
        hint="Copy what it says"
        label="Copy the entry"
        onClick={() => copy(textOf(), `entry ${entry.id}`)}
      />
      <a
        class="icon-button"
        href={linkTo(entry.id)}
        title={`Copy the link to entry ${entry.id}, and go there`}
        aria-label={`Link to entry ${entry.id}`}
        onClick={(event) => {
          event.preventDefault();
          copy(event.currentTarget.href, `the link to entry ${entry.id}`);
          go({ go: "entry", ordinal });
        }}
      >
        <LinkIcon />
      </a>
    </span>
  );
}

/** When the eye looks: at the answer that an entry is or came of, else with the entry. */
function momentOf(answer: number | undefined, ordinal: number): string {
  if (answer === undefined) return "with this";
  return answer === ordinal ? "when it wrote this" : "when it made this call";
}

/**
 * The id of an entry, as the command line takes it. One click copies it, and selects the whole of it, also where a long one
 * is cut: a browser may not let the page write to the clipboard.
 */
export function EntryId({ id }: { id: string }) {
  const { copy } = usePage();
  return (
    // Keys have the link, which holds the id.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <code
      class="entry-id no-print"
      title={`Entry ${id}: click to copy the id`}
      onClick={() => copy(id, `the id ${id}`)}
    >
      {id}
    </code>
  );
}
