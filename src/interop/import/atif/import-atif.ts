import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { assertText } from "../../../core/format/arguments.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { isAtifDocument } from "../../../core/jsonl/foreign-source.ts";
import { readSession } from "../../../core/jsonl/read-session.ts";
import { type ContinuedSession, parseContinuedSession } from "../continued-session.ts";
import { DistinctIds } from "../distinct-ids.ts";
import { makeCustom, makeSubagentLink, toFilled } from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import {
  type BuilderInput,
  makeSubagentSessionId,
  makeSubagentSourceId,
  NO_TIME,
  SessionBuilder,
} from "../session-builder.ts";
import { makeIssue, makeLeftOutIssue, toIsoTime, toNonemptyText } from "../source-text.ts";
import type { ReadAsset } from "./step-content.ts";
import { StepReader } from "./step-reader.ts";
import { findAtifSession, getOwnExtra, TRAJECTORY_CUSTOM_TYPE } from "./stored-lines.ts";

/** An ATIF document. */
export interface AtifInput extends BuilderInput {
  /** Parsed from JSON. */
  readonly document: unknown;
  /** Session id to use if the document has no `trajectory_id`. Default: its `session_id`, which several runs may share. */
  readonly sourceId?: string;
  /** Time of the steps before the first step that has a time, ISO 8601. */
  readonly startedAt?: string;
  /** Reads images next to the document. Default: each image stored in a file is replaced with text. */
  readonly readAsset?: ReadAsset;
}

/** Parses the content of a file. Returns undefined if it is not an ATIF document. */
export function readAtifText(text: string): JsonRecord | undefined {
  assertText("text", text);
  const value = parseJson(text.replace(/^\uFEFF/, ""))?.value;
  return isAtifDocument(value) ? value : undefined;
}

/** Returns the session id that a document specifies; undefined if it does not specify an id. */
function findTrajectoryId(document: unknown): string | undefined {
  const { trajectory_id: id, session_id: sessionId } = toRecord(document);
  return toNonemptyText(id) ?? toNonemptyText(sessionId);
}

/** A top-level or embedded trajectory. */
interface Trajectory {
  readonly record: JsonRecord;
  readonly sourceId: string;
  /** Session that started this one, and this one's agent id in that session. */
  readonly parent?: { readonly sourceId: string; readonly agentId: string };
}

/**
 * Converts an ATIF document, version 1.0 to 1.8, to sessions: the document's own session, followed by embedded subagents'
 * sessions.
 *
 * The conversion is lenient: unknown fields are kept in details, and values that are not steps are reported. If a document stores
 * the entries of its session, those entries are returned. Each id is derived from a step and all the steps before it.
 *
 * @returns Empty if the value is not an ATIF document.
 * @remarks Cost: O(bytes). Source: docs/import-records.md#atif
 */
export function importAtif(input: AtifInput): ImportedSession[] {
  if (!isAtifDocument(input.document)) return [];
  const { trajectory_id: id } = input.document;
  const sourceId = toNonemptyText(id) ?? input.sourceId ?? findTrajectoryId(input.document) ?? "trajectory";
  // Subagents are embedded at any depth, which may be deeper than the call stack.
  const queue: Trajectory[] = [{ record: input.document, sourceId }];
  const sessions: ImportedSession[] = [];
  for (const trajectory of queue) {
    const subagents = findSubagents(trajectory);
    for (const subagent of subagents.values()) queue.push(subagent);
    sessions.push(importStored(input, trajectory) ?? importSteps(input, trajectory, subagents));
  }
  return sessions;
}

/** Returns the embedded trajectories by id. */
function findSubagents({ record, sourceId }: Trajectory): Map<string, Trajectory> {
  const found = new Map<string, Trajectory>();
  const ids = new DistinctIds();
  for (const value of toArray(record["subagent_trajectories"])) {
    if (!isJsonRecord(value)) continue;
    const agentId = ids.take(findTrajectoryId(value) ?? "agent");
    found.set(agentId, {
      record: value,
      sourceId: makeSubagentSourceId(sourceId, agentId),
      parent: { sourceId, agentId },
    });
  }
  return found;
}

function makeBuilder(input: AtifInput, trajectory: Trajectory, startedAt: string | undefined) {
  const { record, sourceId, parent } = trajectory;
  const own = getOwnExtra(record);
  const builder = new SessionBuilder(input, {
    source: "atif",
    sourceId,
    sourceVersion: toNonemptyText(record["schema_version"]),
    startedAt,
    folders: [own["cwd"]],
    startedBy: parent?.sourceId,
    ...(parent !== undefined && { id: makeSubagentSessionId(parent.sourceId, parent.agentId) }),
  });
  if (parent !== undefined)
    builder.addBehind(
      `atif agent ${parent.agentId}`,
      undefined,
      makeSubagentLink({ agentId: parent.agentId }),
    );
  return builder;
}

/** Imports the entries stored in a lossless document, unchanged. Returns undefined if the document stores no entries. */
function importStored(input: AtifInput, trajectory: Trajectory): ImportedSession | undefined {
  const exported = findCopiedSession(trajectory.record)?.steps ?? 0;
  // Steps that were added later are not among the stored entries.
  if (exported > 0 && toArray(trajectory.record["steps"]).length > exported) return undefined;
  const text = findAtifSession(trajectory.record);
  const stored = text === undefined ? undefined : readSession(text);
  if (stored?.header === undefined) return undefined;
  const builder = makeBuilder(input, trajectory, stored.header.timestamp);
  for (const issue of stored.issues) builder.issues.push(issue);
  for (const entry of stored.entries) {
    const { id, parentId, timestamp, ...body } = entry;
    const parent = parentId === null ? null : builder.findDraft(parentId);
    builder.add(`atif entry ${id}`, parent, timestamp, body, id);
    builder.counts.records++;
  }
  builder.markLeaf(stored.leafId === null ? undefined : builder.findDraft(stored.leafId));
  const copied = findCopiedSession(trajectory.record);
  if (copied !== undefined) builder.copySession(copied);
  return builder.finish();
}

function importSteps(
  input: AtifInput,
  trajectory: Trajectory,
  subagents: ReadonlyMap<string, Trajectory>,
): ImportedSession {
  const { record } = trajectory;
  const steps = toArray(record["steps"]);
  const first = steps
    .map((step) => toIsoTime(toRecord(step)["timestamp"]))
    .find((time) => time !== undefined);
  const builder = makeBuilder(
    input,
    trajectory,
    toIsoTime(getOwnExtra(record)["started_at"]) ?? first ?? input.startedAt ?? NO_TIME,
  );
  builder.counts.records = steps.length;
  if (!Array.isArray(record["steps"])) builder.issues.push(makeLeftOutIssue("The trajectory has no steps."));
  const rest = getOtherFields(record);
  if (rest !== undefined)
    builder.addBehind("atif trajectory", undefined, makeCustom(TRAJECTORY_CUSTOM_TYPE, rest));
  const reader = new StepReader(builder, {
    agent: toRecord(record["agent"]),
    state: toArray(getOwnExtra(record)["state"]),
    readAsset: input.readAsset,
    getSessionId: (agentId) => {
      const known = subagents.get(agentId)?.parent;
      return known && makeSubagentSessionId(known.sourceId, known.agentId);
    },
  });
  const copied = findCopiedSession(record);
  const readFrom = (start: number, end?: number) => {
    for (const [at, step] of steps.slice(start, end).entries()) {
      const index = start + at;
      if (isJsonRecord(step)) reader.read(step, index);
      else {
        builder.issues.push(makeIssue("SOURCE_LEFT_OUT", `Step ${index + 1} is not an object.`));
        builder.drop("step");
      }
    }
  };
  readFrom(0, copied?.steps);
  reader.addUsage(toArray(getOwnExtra(record)["usage"]));
  if (copied !== undefined) {
    builder.copySession(copied);
    readFrom(copied.steps);
  }
  return builder.finish();
}

/**
 * Returns the sessiontree session that a trajectory was exported from, and the number of exported steps; undefined for other
 * trajectories.
 */
function findCopiedSession(record: JsonRecord): (ContinuedSession & { readonly steps: number }) | undefined {
  const { leaf_id: leafId, steps } = getOwnExtra(record);
  const session = parseContinuedSession({ sessionId: record["session_id"], leafId });
  const isCount = typeof steps === "number" && Number.isSafeInteger(steps) && steps >= 0;
  return session !== undefined && isCount ? { ...session, steps } : undefined;
}

/** Returns the fields of a trajectory that are not part of the conversation; undefined if there are none. */
function getOtherFields(record: JsonRecord): JsonRecord | undefined {
  const { agent, schema_version: _, trajectory_id: __, steps: ___, extra, ...fields } = record;
  const { subagent_trajectories: ____, final_metrics: _____, session_id: id, ...rest } = fields;
  const { sessiontree: own, ...others } = toRecord(extra);
  const { tool_definitions: ______, ...named } = toRecord(agent);
  const parts = {
    ...rest,
    ...(id !== undefined && { session_id: id }),
    ...(toFilled(named) && { agent: named }),
    ...(toFilled(others) && { extra: others }),
    ...(typeof toRecord(own)["parent_session"] === "string" && {
      parent_session: toRecord(own)["parent_session"],
    }),
  };
  return toFilled(parts);
}
