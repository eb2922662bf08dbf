import type { Block } from "../model/blocks.ts";
import { oneLine } from "../model/excerpt.ts";
import { counted } from "../model/format.ts";
import { renderMarkdown } from "../render/markdown.ts";
import { Code } from "./code.tsx";
import { Fold } from "./fold.tsx";
import { Html } from "./html.tsx";
import { ToolCall } from "./tool-call.tsx";
import { useCallLanguage } from "./use-call-language.ts";

interface BlockViewProps {
  readonly ordinal: number;
  /** Tells the blocks of an entry apart. */
  readonly name: string;
  readonly block: Block;
}

/** A piece of what an entry shows. */
export function BlockView({ ordinal, name, block }: BlockViewProps) {
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
      return <img class="picture" src={block.source} alt="" loading="lazy" />;
    case "call":
      return <ToolCall ordinal={ordinal} name={name} tool={block.name} given={block.given} />;
    case "output":
      return <Output ordinal={ordinal} name={name} block={block} />;
    case "json":
      return (
        <Fold
          ordinal={ordinal}
          name={name}
          class="json"
          summary={<span class="fold-title">{block.title}</span>}
        >
          {() => <Code text={block.text} language="json" />}
        </Fold>
      );
    case "line":
      return <p class="muted">{block.text}</p>;
    case "error":
      return <p class="error">{block.text}</p>;
  }
}

/** Text with Markdown in it. */
export function Markdown({ text }: { text: string }) {
  const html = renderMarkdown(text);
  return html === undefined ? <Code text={text} /> : <Html class="markdown" html={html} />;
}

function ThinkingSummary({ block }: { block: Extract<Block, { kind: "thinking" }> }) {
  return (
    <>
      <span class="fold-title">Thinking</span>
      <span class="fold-excerpt">{block.isRedacted ? "(withheld)" : oneLine(block.text)}</span>
    </>
  );
}

function Output({
  ordinal,
  name,
  block,
}: {
  ordinal: number;
  name: string;
  block: Extract<Block, { kind: "output" }>;
}) {
  const language = useCallLanguage(ordinal, block.callId);
  const { title, text, isError } = block;
  const lines = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
  return (
    <Fold
      ordinal={ordinal}
      name={name}
      class={isError ? "output is-error" : "output"}
      summary={
        <>
          <span class="fold-title">{title}</span>
          <span class="fold-excerpt">{text === "" ? "(nothing)" : oneLine(text)}</span>
          {lines > 1 && <span class="fold-size">{counted(lines, "line", "lines")}</span>}
          {isError && <span class="chip is-error">failed</span>}
        </>
      }
    >
      {() => (text === "" ? <p class="muted">(nothing)</p> : <Code text={text} language={language} />)}
    </Fold>
  );
}
