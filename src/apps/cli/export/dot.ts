import { plainLine } from "../../../core/facts/plain-text.ts";
import { LOOKS, treeGraph } from "./graph.ts";
import type { ExportSource } from "./source.ts";

/** Draws a session's tree in the language of Graphviz. */
export function* dot(source: ExportSource): Generator<string, void> {
  const { nodes, edges } = treeGraph(source);
  const { name, fileName } = source.session;
  yield `digraph ${quoted([plainLine(name ?? fileName)])} {\n`;
  yield '  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=10];\n';
  for (const node of nodes) {
    const more = `${node.isLeaf ? ", penwidth=3" : ""}${node.tone === "run" ? ', style="dashed"' : ""}`;
    yield `  ${node.name} [label=${quoted(node.lines)}, fillcolor="${LOOKS[node.tone].fill}"${more}];\n`;
  }
  for (const [from, to] of edges) yield `  ${from} -> ${to};\n`;
  yield "}\n";
}

/** Quotes lines; the language takes backslashes, quotes and, in labels, entities of HTML for its own. */
function quoted(lines: readonly string[]): string {
  const escaped = lines.map((line) => line.replace(/[\\"]/g, "\\$&").replace(/&/g, "&amp;"));
  return `"${escaped.join("\\n")}"`;
}
