import type { ComponentChildren } from "preact";
import type { OutputPart } from "../../../core/facts/entry-content.ts";
import { counted } from "../../../core/facts/number-text.ts";
import { beginningOf } from "../../../core/facts/plain-text.ts";
import { Code } from "./code.tsx";
import { Fold } from "./fold.tsx";
import { ResultIcon } from "./icons.tsx";

/** What of an output is shown, and where. */
export interface OutputProps {
  readonly ordinal: number;
  readonly name: string;
  readonly part: OutputPart;
  /** What it is the output of, where no call stands above it. */
  readonly title?: string;
  /** The line that says most about it, if it failed; default: its first words. */
  readonly failure?: string;
  /** The line of it that names the error, if it failed. */
  readonly line?: string;
  /** Known language of the text. */
  readonly language?: string | undefined;
  /** What else is said of it in the line that is always shown. */
  readonly notes?: ComponentChildren;
  /** What can be done with it. */
  readonly actions?: ComponentChildren;
}

/** What a tool or a command gave back: folded to its first words, or what went wrong, and its size. */
export function Output({
  ordinal,
  name,
  part,
  title,
  failure,
  line = "",
  language,
  notes,
  actions,
}: OutputProps) {
  const { text, isError } = part;
  const lines = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
  return (
    <Fold
      ordinal={ordinal}
      name={name}
      class={isError ? "output is-error" : "output"}
      actions={actions}
      summary={
        <>
          <ResultIcon />
          {title !== undefined && <span class="fold-title">{title}</span>}
          <span class="sr-only">result: </span>
          <span class="fold-excerpt">{failure || beginningOf(text) || "(nothing)"}</span>
          {lines > 1 && <span class="fold-size">{counted(lines, "line", "lines")}</span>}
          {notes}
          {isError && <span class="chip is-failed">failed</span>}
        </>
      }
    >
      {() =>
        text === "" ? <p class="muted">(nothing)</p> : <Code text={text} language={language} line={line} />
      }
    </Fold>
  );
}
