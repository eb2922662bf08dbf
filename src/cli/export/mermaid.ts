import { type GraphNode, treeGraph } from "./graph.ts";
import type { ExportSource } from "./source.ts";

/** All that is written as it stands: the rest has a meaning to Mermaid somewhere. */
const MEANINGFUL = /[^\p{L}\p{N} ,._-]/gu;

/** Looks that can be read on light and dark. */
const CLASSES: { readonly [tone in GraphNode["tone"]]: string } = {
  user: "fill:#cfe8fc,stroke:#1c6ea4,color:#000",
  assistant: "fill:#d9f2d9,stroke:#2e7d32,color:#000",
  tool: "fill:#eeeeee,stroke:#999999,color:#000",
  command: "fill:#fff4cc,stroke:#b38600,color:#000",
  summary: "fill:#ecd9f5,stroke:#7b1fa2,color:#000",
  quiet: "fill:#f7f7f7,stroke:#bbbbbb,color:#000",
  damaged: "fill:#fbd5d5,stroke:#c62828,color:#000",
  run: "fill:#ffffff,stroke:#999999,color:#555,stroke-dasharray:4",
};

/** Draws a session's tree as a Mermaid flowchart. Mermaid refuses text beyond 50,000 characters unless `maxTextSize` is raised. */
export function* mermaid(source: ExportSource): Generator<string, void> {
  const { nodes, edges } = treeGraph(source);
  yield "flowchart TD\n";
  for (const { name, tone, lines, isLeaf } of nodes) {
    const [open, close] = isLeaf ? ["([", "])"] : ["[", "]"];
    yield `  ${name}${open}"${lines.map(quoted).join("<br/>")}"${close}:::${tone}\n`;
  }
  for (const [from, to] of edges) yield `  ${from} --> ${to}\n`;
  for (const [tone, look] of Object.entries(CLASSES)) yield `  classDef ${tone} ${look}\n`;
}

function quoted(text: string): string {
  return text.replace(MEANINGFUL, (character) => `#${character.codePointAt(0) ?? 0};`);
}
