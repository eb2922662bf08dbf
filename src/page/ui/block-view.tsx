import { withoutMarkdown } from "../../view/markdown.ts";
import { beginningOf } from "../../view/plain.ts";
import type { Block } from "../model/blocks.ts";
import type { EntryRow } from "../model/conversation-rows.ts";
import { failureLine } from "../model/failure-line.ts";
import { renderMarkdown } from "../render/markdown.ts";
import { Code } from "./code.tsx";
import { Fold } from "./fold.tsx";
import { Html } from "./html.tsx";
import { CallIcon } from "./icons.tsx";
import { JsonFold } from "./json-fold.tsx";
import { Output, type OutputProps } from "./output.tsx";
import { ToolUse } from "./tool-use.tsx";

interface BlockViewProps {
  /** The entry that it is of, and the results of its calls. */
  readonly row: EntryRow;
  /** Tells the blocks of an entry apart. */
  readonly name: string;
  readonly block: Block;
  readonly focus: number;
  readonly end: number;
}

/** A piece of what an entry shows. */
export function BlockView({ row, name, block, focus, end }: BlockViewProps) {
  const { ordinal } = row;
  switch (block.kind) {
    case "markdown":
      return <Markdown text={block.text} />;
    case "thinking":
      return (
        <Fold ordinal={ordinal} name={name} class="thinking" summary={<ThinkingSummary block={block} />}>
          {() =>
            block.isRedacted ? (
              <p class="muted">The provider kept this to itself.</p>
            ) : (
              <Markdown text={block.text} />
            )
          }
        </Fold>
      );
    case "image":
      return <img class="picture" src={block.source} alt="Stored in this entry" loading="lazy" />;
    case "call":
      return <ToolUse row={row} name={name} call={block} focus={focus} end={end} />;
    case "output": {
      const output = { ordinal, name, block, failure: failureLine(row.item.entry) };
      return block.isCommand ? <Command {...output} /> : <Output {...output} title={block.title} />;
    }
    case "json":
      return <JsonFold ordinal={ordinal} name={name} block={block} />;
    case "line":
      return <p class="muted">{block.text}</p>;
    case "error":
      return <p class="error">{block.text}</p>;
  }
}

/** Text with Markdown in it. */
function Markdown({ text }: { text: string }) {
  const html = renderMarkdown(text);
  return html === undefined ? <Code text={text} /> : <Html class="markdown" html={html} />;
}

/** A command of a person and what came of it, as one block. */
function Command(output: Omit<OutputProps, "title">) {
  const { block } = output;
  return (
    <div class={block.isError ? "tool-use is-failed" : "tool-use"}>
      <div class="command-line">
        <CallIcon />
        <code>{block.title}</code>
      </div>
      <div class="result">
        <Output {...output} />
      </div>
    </div>
  );
}

function ThinkingSummary({ block }: { block: Extract<Block, { kind: "thinking" }> }) {
  return (
    <>
      <span class="fold-title">Thinking</span>
      <span class="fold-excerpt">
        {block.isRedacted ? "(withheld)" : beginningOf(withoutMarkdown(block.text))}
      </span>
    </>
  );
}
