import { readFileSync } from "node:fs";
import { SessionError } from "../../../core/format/errors.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { type ExportedTrajectory, exportAtif } from "../../../interop/atif/export-atif.ts";
import type { AtifSource } from "../../../interop/atif/export-options.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import { readNumberedEntries } from "../../text/numbered-entries.ts";
import type { ExportSource } from "./source.ts";

/** Formats a branch as an Agent Trajectory Interchange Format (ATIF) document. */
export function* writeAtif(source: ExportSource): Generator<string, void> {
  yield `${encodeParsed((source.exported ?? makeTrajectory(source)).trajectory)}\n`;
}

/** Converts a branch to an ATIF document. */
export function makeTrajectory({ session, leaf, atif = {} }: ExportSource): ExportedTrajectory {
  const { isContext, isLossless, assets, subagents = [] } = atif;
  return exportAtif(toSource(session, leaf), {
    compacted: isContext ? "context" : "whole",
    lossless: isLossless ? readText(session) : false,
    subagents: subagents.map((subagent) => toSource(subagent, subagent.leaf)),
    ...(assets !== undefined && { assets }),
  });
}

/** Wraps a session view as a source, with the branch that ends at an entry. */
function toSource(session: SessionView, leaf: number): AtifSource {
  const read = (ordinals: Int32Array) =>
    Array.from(readNumberedEntries(session, ordinals), ({ entry }) => entry ?? []).flat();
  return {
    getHeader: () => session.header ?? null,
    getLeafId: () => (leaf === NONE ? null : session.tree.idAt(leaf)),
    getEntries: () => read(Int32Array.from(session.tree.ordinals())),
    getBranch: () => read(session.tree.path(leaf)),
  };
}

function readText({ path, bytes, fileName }: SessionView): string {
  const all = path === undefined ? (bytes ?? new Uint8Array()) : readFileSync(path);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(all);
  } catch (error) {
    const message = `${fileName} has bytes that are not UTF-8, which JSON cannot represent; export it without --lossless.`;
    throw new SessionError("NOT_A_SESSION", message, { cause: error });
  }
}
