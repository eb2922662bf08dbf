import type { Parameter } from "../parameters.ts";
import { flag } from "../parameters.ts";
import { UsageError } from "../usage-error.ts";
import { dot } from "./dot.ts";
import { html } from "./html.ts";
import { jsonl } from "./jsonl.ts";
import { markdown } from "./markdown.ts";
import { mermaid } from "./mermaid.ts";
import type { ExportSource } from "./source.ts";

/** A format in which a session can be exported. */
export interface ExportFormat {
  /** The word for it. */
  readonly name: string;
  /** What chooses it: undefined or false if it was not given, and a text if that is the file to write. */
  readonly option: Parameter<string | boolean | undefined>;
  /** Whether it shows all branches, so that `--leaf` makes no sense; `jsonl` does so if everything is wanted. */
  readonly isWhole: boolean;
  /** Makes the content, piece by piece, without writing anything. */
  readonly render: (source: ExportSource) => Iterable<string | Uint8Array>;
}

/** Takes a file, too, as it did before there were other formats. */
const JSONL: Parameter<string | boolean | undefined> = {
  kind: "option",
  form: "--jsonl [file]",
  description: "a session file of the branch; of all branches with --full",
  parse: (given) => {
    if (given === "") throw new UsageError("--jsonl [file] must not be empty.");
    return typeof given === "string" ? given : given === true;
  },
};

/** All formats, in the order in which the help lists them. */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
  { name: "jsonl", option: JSONL, isWhole: false, render: jsonl },
  {
    name: "markdown",
    option: flag("--markdown", "a transcript of the branch"),
    isWhole: false,
    render: markdown,
  },
  {
    name: "html",
    option: flag("--html", "a page for the browser, with all branches"),
    isWhole: true,
    render: html,
  },
  {
    name: "mermaid",
    option: flag("--mermaid", "the tree as a Mermaid flowchart"),
    isWhole: true,
    render: mermaid,
  },
  {
    name: "dot",
    option: flag("--dot", "the tree for Graphviz"),
    isWhole: true,
    render: dot,
  },
];
