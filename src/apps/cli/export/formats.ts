import { NONE } from "../../../core/tree/entry-tree.ts";
import { sessionPage } from "../page/session-page.ts";
import { optionWithOrWithout, type Parameter } from "../parameters.ts";
import { dot } from "./dot.ts";
import { jsonl } from "./jsonl.ts";
import { markdown } from "./markdown.ts";
import { mermaid } from "./mermaid.ts";
import type { ExportSource } from "./source.ts";

/** A format in which a session can be exported. */
export interface ExportFormat {
  readonly name: string;
  /** What chooses it; its value is the file to write. */
  readonly option: Parameter<string | true | undefined>;
  /** Whether it shows all branches, so that `--leaf` makes no sense; `jsonl` does so if everything is wanted. */
  readonly isWhole: boolean;
  /** Makes the content, piece by piece, without writing anything. */
  readonly render: (source: ExportSource) => Iterable<string | Uint8Array>;
}

/** Describes a format, whose option may name the file to write. */
function exportFormat(
  name: string,
  description: string,
  isWhole: boolean,
  render: ExportFormat["render"],
): ExportFormat {
  return { name, option: optionWithOrWithout(`--${name} [file]`, description), isWhole, render };
}

function* html({ session, leaf }: ExportSource): Generator<string, void> {
  yield sessionPage(session, { leafId: leaf === NONE ? undefined : session.tree.idAt(leaf) });
}

/** All formats, in the order in which the help lists them. */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
  exportFormat("jsonl", "a session file of the branch; of all branches with --full", false, jsonl),
  exportFormat("markdown", "a transcript of the branch", false, markdown),
  exportFormat("html", "a page for the browser, with all branches", true, html),
  exportFormat("mermaid", "the tree as a Mermaid flowchart", true, mermaid),
  exportFormat("dot", "the tree for Graphviz", true, dot),
];
