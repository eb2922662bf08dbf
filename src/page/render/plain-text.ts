import MarkdownIt from "markdown-it";

const parser = new MarkdownIt({ html: false });

/** Token of markdown-it, as far as it matters here. */
type Token = ReturnType<typeof parser.parse>[number];

/**
 * Takes the markup out of Markdown: `## **Goal**` becomes `Goal`.
 *
 * @param text - Parsed whole: cut it first.
 */
export function plainText(text: string): string {
  return parser.parse(text, {}).map(textOfToken).filter(Boolean).join(" ");
}

function textOfToken({ type, content, children }: Token): string {
  if (type === "inline") return (children ?? []).map(textOfInline).join("");
  return type === "fence" || type === "code_block" || type === "html_block" ? content : "";
}

function textOfInline({ type, content }: Token): string {
  return type === "softbreak" || type === "hardbreak" ? " " : content;
}
