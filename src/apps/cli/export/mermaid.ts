import { LOOKS, treeGraph } from "./graph.ts";
import type { ExportSource } from "./source.ts";

/** All that is written as it stands: the rest has a meaning to Mermaid somewhere. */
const MEANINGFUL = /[^\p{L}\p{N} ,._-]/gu;

/** Draws a session's tree as a Mermaid flowchart. Mermaid takes 50,000 characters, or more with `maxTextSize`. */
export function* mermaid(source: ExportSource): Generator<string, void> {
  const { nodes, edges } = treeGraph(source);
  yield "flowchart TD\n";
  for (const { name, tone, lines, isLeaf } of nodes) {
    const [open, close] = isLeaf ? ["([", "])"] : ["[", "]"];
    yield `  ${name}${open}"${lines.map(quoted).join("<br/>")}"${close}:::${tone}\n`;
  }
  for (const [from, to] of edges) yield `  ${from} --> ${to}\n`;
  for (const [tone, { fill, stroke }] of Object.entries(LOOKS)) {
    const text = tone === "run" ? "color:#555,stroke-dasharray:4" : "color:#000";
    yield `  classDef ${tone} fill:${fill},stroke:${stroke},${text}\n`;
  }
}

function quoted(text: string): string {
  return text.replace(MEANINGFUL, (character) => `#${character.codePointAt(0) ?? 0};`);
}
