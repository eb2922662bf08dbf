import { assertSession } from "../../core/format/arguments.ts";
import { SessionError } from "../../core/format/errors.ts";
import { addTo } from "../../core/format/group-by.ts";
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
    words: "true, false, or a string",
  },
  state: FLAG,
  assets: TEXT,
  subagents: { fits: Array.isArray, words: "an array of sessions" },
};

/** A session as an ATIF document, with its images and losses. */
export interface ExportedTrajectory {
  readonly trajectory: AtifTrajectory;
  /** Images to write next to the document. */
  readonly assets: readonly AtifAsset[];
  /** Losses and changes, because ATIF cannot represent everything. */
  readonly issues: readonly ConversionIssue[];
}

/**
 * Converts a session path to an Agent Trajectory Interchange Format (ATIF) document, version 1.8.
 *
 * Does not write files. An answer and the results of its calls form one step. Late results are part of their call's step. Only
 * tokens and costs reported in the session are included.
 *
 * @param session - Session to export. It is not changed.
 * @throws {SessionError} `ENTRY_NOT_FOUND`; `NOT_A_SESSION` if no entry on the path is a step
 * @throws {TypeError} If an option is invalid.
 * @remarks Cost: O(bytes of the path); with `lossless`, O(bytes of the session). Source: docs/atif.md
 */
export function exportAtif(session: AtifSource, options: ExportAtifOptions = {}): ExportedTrajectory {
  assertSession(session);
  assertOptions(options, RULES);
  const issues = new ConversionIssues();
  const content = new ContentWriter(options.assets, issues);
  const writer = new TrajectoryWriter(session, options, content, issues);
  if (writer.isEmpty)
    throw new SessionError("NOT_A_SESSION", "The session has no messages; choose a different session.", {});
  const subagents = (options.subagents ?? []).flatMap((subagent) => {
    const { leafId: _, ...shared } = options;
    const lossless = Boolean(shared.lossless);
    const own = new TrajectoryWriter(subagent, { ...shared, lossless }, content, issues);
    if (!own.isEmpty) return own;
    issues.report("FLAG_DROPPED", -1, `Subagent ${own.id} has no messages and is omitted.`);
    return [];
  });
  embedSubagents(writer, subagents, issues);
  return { trajectory: writer.finish(), assets: content.assets, issues: issues.list() };
}

/** Position of a subagent's trajectory among the trajectories. */
interface SubagentPlace {
  /** Trajectory that started the subagent; undefined if it was started on another branch. */
  readonly caller: TrajectoryWriter | undefined;
  /** Result of the call that started the subagent; undefined if the call is unknown. */
  readonly result?: AtifResult | undefined;
}

/**
 * Embeds each subagent in the trajectory with the call that started it, or in the main trajectory if no call is known. Omits
 * subagents that were started on another branch, and their own subagents.
 */
function embedSubagents(
  main: TrajectoryWriter,
  subagents: readonly TrajectoryWriter[],
  issues: ConversionIssues,
): void {
  const places = new Map(
    subagents.map((subagent) => [subagent, findSubagentPlace(subagent, main, subagents)] as const),
  );
  const ordered = orderBelow(main, places);
  // A trajectory is complete only after its own subagents have been embedded.
  for (const [subagent, { caller, result }] of [...ordered].reverse()) caller?.embed(subagent, result);
  for (const subagent of subagents)
    if (!ordered.has(subagent))
      issues.report(
        "FLAG_DROPPED",
        -1,
        `Subagent ${subagent.id} was started on another branch and is omitted.`,
      );
}

/**
 * Finds where a subagent belongs: in the session that its header identifies or, failing that, in the first session that contains
 * its call.
 */
function findSubagentPlace(
  subagent: TrajectoryWriter,
  main: TrajectoryWriter,
  subagents: readonly TrajectoryWriter[],
): SubagentPlace {
  const all = [main, ...subagents].filter((one) => one !== subagent);
  const named = all.filter((one) => subagent.isStartedBy(one));
  for (const caller of named.length > 0 ? named : all) {
    const result = caller.findSubagentResult(subagent);
    if (result !== undefined) return { caller, result };
  }
  const [caller = main] = named;
  return { caller: caller.hasStarted(subagent) ? undefined : caller };
}

/**
 * Orders subagents so that each comes after its caller. Subagents that claim to have started each other are embedded in the main
 * trajectory.
 *
 * @returns The subagents to embed, excluding descendants of omitted subagents.
 */
function orderBelow(
  main: TrajectoryWriter,
  places: ReadonlyMap<TrajectoryWriter, SubagentPlace>,
): Map<TrajectoryWriter, SubagentPlace> {
  const below = new Map<TrajectoryWriter | undefined, TrajectoryWriter[]>();
  for (const [subagent, { caller }] of places) addTo(below, caller, subagent);
  const ordered = new Map<TrajectoryWriter, SubagentPlace>();
  const addBelow = (first: TrajectoryWriter | undefined, found: Map<TrajectoryWriter, SubagentPlace>) => {
    const callers = [first];
    // The loop also visits elements added during it.
    for (const caller of callers) {
      for (const subagent of below.get(caller) ?? []) {
        const place = places.get(subagent);
        if (place !== undefined) found.set(subagent, place);
        callers.push(subagent);
      }
    }
  };
  const omitted = new Map<TrajectoryWriter, SubagentPlace>();
  addBelow(undefined, omitted);
  addBelow(main, ordered);
  for (const subagent of places.keys())
    if (!ordered.has(subagent) && !omitted.has(subagent)) ordered.set(subagent, { caller: main });
  return ordered;
}
