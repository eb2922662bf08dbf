import { type ContentPart, outputTitle } from "../../../core/facts/entry-content.ts";
import { withoutMarkdown } from "../../../core/facts/markdown.ts";
import { beginningOf } from "../../../core/facts/plain-text.ts";
import type { EntryRow } from "../model/conversation-rows.ts";
import { errorLineOf, failureLine } from "../model/failure-line.ts";
import { renderMarkdown } from "../render/markdown.ts";
import { Code } from "./code.tsx";
import { Fold } from "./fold.tsx";
import { Html } from "./html.tsx";
import { CallIcon } from "./icons.tsx";
import { Output, type OutputProps } from "./output.tsx";
import { usePage } from "./page-context.ts";
import { StoredPart } from "./stored-part.tsx";
import { CopyCommand, ToolUse } from "./tool-use.tsx";

interface PartViewProps {
  /** The entry that it is of, and the results of its calls. */
  readonly row: EntryRow;
  /** Tells the parts of an entry apart. */
  readonly name: string;
  readonly part: ContentPart;
  readonly focus: number;
  readonly end: number;
}

/** A part of what an entry says. */
export function PartView({ row, name, part, focus, end }: PartViewProps) {
  const { ordinal } = row;
  switch (part.kind) {
    case "text":
      return <Markdown text={part.text} />;
    case "thinking":
      return <Thinking ordinal={ordinal} name={name} part={part} />;
    case "call":
      return <ToolUse row={row} name={name} call={part} focus={focus} end={end} />;
    case "output": {
      const { entry } = row.item;
      const output = { ordinal, name, part, failure: failureLine(entry), line: errorLineOf(entry) };
      return part.of === "command" ? <Command {...output} /> : <Output {...output} title={part.title} />;
    }
    default:
      return <StoredPart ordinal={ordinal} name={name} part={part} />;
  }
}

/** Text with Markdown in it. */
function Markdown({ text }: { text: string }) {
  const { copy } = usePage();
  const html = renderMarkdown(text);
  if (html === undefined) return <Code text={text} />;
  const onClick = ({ target }: Event) => {
    const button = target instanceof Element ? target.closest(".copy-code") : null;
    const code = button?.parentElement?.querySelector("pre")?.textContent;
    if (code) copy(code, "the code");
  };
  return <Html class="markdown" html={html} onClick={onClick} />;
}

type ThinkingProps = Pick<PartViewProps, "name"> & {
  readonly ordinal: number;
  readonly part: Extract<ContentPart, { kind: "thinking" }>;
};

/** What a model thought, folded to its first words. */
function Thinking({ ordinal, name, part: { text, isRedacted } }: ThinkingProps) {
  const summary = (
    <>
      <span class="fold-title">Thinking</span>
      <span class="fold-excerpt">{isRedacted ? "(withheld)" : beginningOf(withoutMarkdown(text))}</span>
    </>
  );
  return (
    <Fold ordinal={ordinal} name={name} class="thinking" summary={summary}>
      {() => (isRedacted ? <p class="muted">The provider kept this to itself.</p> : <Markdown text={text} />)}
    </Fold>
  );
}

/** A command of a person and what came of it, as one block. */
function Command(output: Omit<OutputProps, "title">) {
  const { part } = output;
  return (
    <div class={part.isError ? "tool-use is-failed" : "tool-use"}>
      <div class="command-line">
        <CallIcon />
        <code>{outputTitle(part)}</code>
        <CopyCommand command={outputTitle(part).replace(/^\$ /, "")} />
      </div>
      <div class="result">
        <Output {...output} />
      </div>
    </div>
  );
}
