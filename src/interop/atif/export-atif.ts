import { assertOptions, FLAG, makeChoiceRule, type OptionRules, TEXT } from "../../core/format/options.ts";
import { type ConversionIssue, ConversionIssues } from "../convert/conversion-issue.ts";
import { type AtifAsset, ContentWriter } from "./content.ts";
import type { AtifSource, ExportAtifOptions } from "./export-options.ts";
import type { AtifResult, AtifTrajectory } from "./trajectory.ts";
import { TrajectoryWriter } from "./trajectory-writer.ts";

const RULES: OptionRules<ExportAtifOptions> = {
  leafId: TEXT,
  compacted: makeChoiceRule("whole", "context"),
  lossless: {
    fits: (value) => typeof value === "string" || FLAG.fits(value),
    words: "true, false, or a text",
  },
  state: FLAG,
  assets: TEXT,
  subagents: { fits: Array.isArray, words: "an array of sessions" },
};

/** A session as an ATIF document. */
export interface ExportedTrajectory {
  readonly trajectory: AtifTrajectory;
  /** Images to write next to the document. */
  readonly assets: readonly AtifAsset[];
  /** Losses and changes, because ATIF cannot represent some content. */
  readonly issues: readonly ConversionIssue[];
}

/**
 * Converts a path of a session to a document of the Agent Trajectory Interchange Format (ATIF), version 1.8.
 *
 * Does not write files. An answer and the results of its calls are one step; late results belong to the step of their call.
 * Tokens and cost are only those that the session states.
 *
 * @param session - Not changed.
 * @throws {SessionError} `ENTRY_NOT_FOUND`; `NOT_A_SESSION` if no entry of the path is a step
 * @throws {TypeError} If an option is invalid.
 * @remarks Cost: O(bytes of the path); with `lossless`, O(bytes of the session). Source: docs/atif.md
 */
export function exportAtif(session: AtifSource, options: ExportAtifOptions = {}): ExportedTrajectory {
  assertOptions(options, RULES);
  const issues = new ConversionIssues();
  const content = new ContentWriter(options.assets, issues);
  const writer = new TrajectoryWriter(session, options, content, issues);
  const subagents = (options.subagents ?? []).map((subagent) => {
    const { leafId: _, ...shared } = options;
    const lossless = Boolean(shared.lossless);
    return new TrajectoryWriter(subagent, { ...shared, lossless }, content, issues);
  });
  embedSubagents(writer, subagents, issues);
  return { trajectory: writer.finish(), assets: content.assets, issues: issues.list() };
}

/**
 * Embeds each subagent in the trajectory with the call that started it, or in the main one if no call is known; omits a subagent
 * that was started on another branch.
 */
function embedSubagents(
  main: TrajectoryWriter,
  subagents: readonly TrajectoryWriter[],
  issues: ConversionIssues,
): void {
  const all = [main, ...subagents];
  const places = new Map<TrajectoryWriter, SubagentPlace>();
  for (const subagent of subagents) {
    const place = findSubagentPlace(subagent, all);
    if (place !== undefined || !main.hasStarted(subagent)) places.set(subagent, place ?? { caller: main });
    else
      issues.report(
        "FLAG_DROPPED",
        -1,
        `The subagent ${subagent.id} was started on another branch; it is left out.`,
      );
  }
  const ordered = orderBelow(main, places);
  // A trajectory is complete when those of its own subagents are embedded.
  for (const [subagent, { caller, result }] of ordered.reverse()) caller.embed(subagent, result);
}

/** Position of the call that started a subagent. */
interface SubagentPlace {
  readonly caller: TrajectoryWriter;
  /** Result of the call that started it. */
  readonly result?: AtifResult;
}

/** Returns the place where a subagent was started; undefined if no trajectory has the call. */
function findSubagentPlace(
  subagent: TrajectoryWriter,
  all: readonly TrajectoryWriter[],
): SubagentPlace | undefined {
  for (const caller of all) {
    const result = caller === subagent ? undefined : caller.findResultOf(subagent);
    if (result !== undefined) return { caller, result };
  }
  return undefined;
}

/**
 * Orders subagents so that each comes after its caller; those that claim to have started each other are embedded in the main
 * trajectory.
 */
function orderBelow(
  main: TrajectoryWriter,
  places: ReadonlyMap<TrajectoryWriter, SubagentPlace>,
): (readonly [TrajectoryWriter, SubagentPlace])[] {
  const ordered = new Map<TrajectoryWriter, SubagentPlace>();
  const callers = [main];
  // The loop also visits elements added during it.
  for (const caller of callers) {
    for (const [subagent, place] of places) {
      if (place.caller !== caller) continue;
      ordered.set(subagent, place);
      callers.push(subagent);
    }
  }
  for (const subagent of places.keys()) if (!ordered.has(subagent)) ordered.set(subagent, { caller: main });
  return [...ordered];
}
