import type { ComponentChildren } from "preact";
import { useContext, useState } from "preact/hooks";
import { FoldsContext } from "./folds.ts";
import { ChevronIcon } from "./icons.tsx";

interface FoldProps {
  /** The entry that it belongs to. */
  readonly ordinal: number;
  /** Tells the folds of an entry apart. */
  readonly name: string;
  readonly class?: string;
  /** What is always shown. */
  readonly summary: ComponentChildren;
  /** What can be done with it, beside the summary. */
  readonly actions?: ComponentChildren;
  /** Returns what is shown when it is open. */
  readonly children: () => ComponentChildren;
}

/** Something that can be opened; its content is made only then. */
export function Fold({ ordinal, name, class: extra = "", summary, actions, children }: FoldProps) {
  const folds = useContext(FoldsContext);
  const [, redraw] = useState(0);
  const isOpen = folds.isOpen(ordinal, name);
  const toggle = () => {
    folds.set(ordinal, name, !isOpen);
    redraw((times) => times + 1);
  };
  return (
    <div class={`fold ${extra} ${isOpen ? "is-open" : ""}`}>
      <div class="fold-line">
        <button type="button" class="fold-summary" aria-expanded={isOpen} onClick={toggle}>
          <ChevronIcon />
          {summary}
        </button>
        {actions}
      </div>
      {isOpen && <div class="fold-body">{children()}</div>}
    </div>
  );
}
