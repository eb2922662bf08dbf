import { NONE } from "../../../core/tree/entry-tree.ts";
import { copyLines, planWholeCopy } from "../../../session/log/canonical-copy.ts";
import { makeEmptyFileError } from "../../../session/log/foreign-file.ts";
import { planBranch, writeBranchLines } from "../../../session/manager/fork.ts";
import { SessionState } from "../../../session/manager/session-state.ts";
import { writeMarkdown } from "../../text/markdown.ts";
import { makeSessionPage } from "../page/session-page.ts";
import { optionWithOrWithout, type Parameter } from "../parameters.ts";
import { writeAtif } from "./atif.ts";
import { writeMermaid } from "./graph.ts";
import type { ExportSource } from "./source.ts";

/** Export format for a session. */
export interface ExportFormat {
  readonly name: string;
  /** Option that selects the format; its value is the output file. */
  readonly option: Parameter<string | true | undefined>;
  /** Whether it shows all branches, so that `--leaf` does not apply; `jsonl` does so on request. */
  readonly isWhole: boolean;
  /** Yields the content in chunks, without writing anything. */
  readonly render: (source: ExportSource) => Iterable<string | Uint8Array>;
}

/** Defines a format. The value of its option, if any, is the output file. */
function exportFormat(
  name: string,
  description: string,
  isWhole: boolean,
  render: ExportFormat["render"],
): ExportFormat {
  return { name, option: optionWithOrWithout(`--${name} [file]`, description), isWhole, render };
}

function writeTranscript(source: ExportSource): Generator<string, void> {
  const { labels, tree } = source.session;
  return writeMarkdown({ ...source, getLabel: (ordinal) => labels.get(tree.idAt(ordinal))?.label });
}

function* writeHtml({ session, leaf }: ExportSource): Generator<string, void> {
  yield makeSessionPage(session, { leafId: leaf === NONE ? undefined : session.tree.idAt(leaf) });
}

/** All formats, in help order. */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
  exportFormat("jsonl", "a session file of the branch; of all branches with --full", false, writeJsonl),
  exportFormat("markdown", "a transcript of the branch", false, writeTranscript),
  exportFormat("html", "a page for the browser, with all branches", true, writeHtml),
  exportFormat("atif", "a trajectory of the branch, for evaluation and training", false, writeAtif),
  exportFormat("mermaid", "the tree as a Mermaid flowchart", true, writeMermaid),
];

/**
 * Yields the content of a session file: a branch after its session's header, or all branches.
 *
 * @throws {SessionError} `VERSION_TOO_NEW`, or `NOT_A_SESSION` if the session's file is empty.
 * @remarks Cost: O(bytes copied).
 */
function* writeJsonl({ session, leaf, isFull }: ExportSource): Generator<string | Uint8Array, void> {
  if (session.isEmpty) throw makeEmptyFileError(session.fileName);
  const { log } = session;
  const whole = planWholeCopy(log.index);
  if (isFull) {
    yield* copyLines(log, whole);
    return;
  }
  const state = new SessionState(log, {});
  yield* writeBranchLines(state, planBranch(state, leaf, whole.header));
}
