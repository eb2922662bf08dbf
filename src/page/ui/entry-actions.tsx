import type { AnySessionEntry } from "../../core.ts";
import { kindOf } from "../model/entry-kind.ts";
import { EndHereIcon, EyeIcon, LinkIcon } from "./icons.tsx";
import { linkTo } from "./location.ts";
import { usePage } from "./use-page.ts";

interface EntryActionsProps {
  readonly entry: AnySessionEntry;
  readonly ordinal: number;
  /** Whether the path ends here already. */
  readonly isEnd: boolean;
  /** Whether there is little room: on a phone only the first action is shown. */
  readonly isNarrow?: boolean;
}

/** What the eye shows, by what the entry is. */
const SEEN_WORDS: ReadonlyMap<string, string> = new Map([
  ["assistant", "What the model saw when it wrote this"],
  ["tool result", "What the model saw when it made this call"],
]);

/** What can be done with an entry. Each has its room also while it is not shown, so that it covers nothing. */
export function EntryActions({ entry, ordinal, isEnd, isNarrow = false }: EntryActionsProps) {
  const { go } = usePage();
  const seen = SEEN_WORDS.get(kindOf(entry).word) ?? "What the model saw with this";
  return (
    <span class={isNarrow ? "entry-actions is-narrow no-print" : "entry-actions no-print"}>
      <button
        type="button"
        class="icon-button"
        title={`${seen} (m)`}
        aria-label={seen}
        onClick={() => go({ go: "context", ordinal })}
      >
        <EyeIcon />
      </button>
      <button
        type="button"
        class="icon-button"
        title={isEnd ? "The path ends here" : "End the path here (x)"}
        aria-label="End the path here"
        disabled={isEnd}
        onClick={() => go({ go: "end", ordinal })}
      >
        <EndHereIcon />
      </button>
      <a
        class="icon-button"
        href={linkTo(entry.id)}
        title={`Link to entry ${entry.id}`}
        aria-label={`Link to entry ${entry.id}`}
        onClick={(event) => {
          event.preventDefault();
          go({ go: "entry", ordinal });
        }}
      >
        <LinkIcon />
      </a>
    </span>
  );
}
