import { getMessageFields, isStoredMessage, toRecord } from "../../core/context/entry-fields.ts";
import { makeEntryPath } from "../../core/context/entry-path.ts";
import { toText } from "../../core/context/message-parts.ts";
import { projectPath } from "../../core/context/session-context.ts";
import { foldSystemMessages } from "../../core/context/system-message.ts";
import { getToolCalls } from "../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import { getOrAdd } from "../../core/format/group-by.ts";
import {
  FRONT_ENTRIES,
  findImportOrigin,
  IMPORT_CUSTOM_TYPE,
  SUBAGENT_CUSTOM_TYPE,
} from "../../core/format/import-origin.ts";
import { isJsonRecord, type JsonRecord, pickDefined } from "../../core/format/json.ts";
import type { ToolDeclaration } from "../../core/format/message.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { getPackageVersion } from "../../session/fs/package-version.ts";
import type { ConversionIssues } from "../convert/conversion-issue.ts";
import { OWN_EXTRA, TRAJECTORY_CUSTOM_TYPE, toStoredLines } from "../import/atif/stored-lines.ts";
import { DistinctIds } from "../import/distinct-ids.ts";
import type { ContentWriter } from "./content.ts";
import type { AtifSource, ExportAtifOptions } from "./export-options.ts";
import { sumMetrics, toMetrics } from "./metrics.ts";
import { StepWriter } from "./step-writer.ts";
import { ATIF_VERSION, type AtifAgent, type AtifResult, type AtifTrajectory } from "./trajectory.ts";
/** Writes the trajectory of one session. */
export class TrajectoryWriter {
  readonly #session: AtifSource;
  readonly #options: ExportAtifOptions;
  readonly #issues: ConversionIssues;
  readonly #steps: StepWriter;
  readonly #path: readonly AnySessionEntry[];
  readonly #subagents: AtifTrajectory[] = [];
  /** Ids of this trajectory and of all trajectories embedded in it. */
  readonly #ids = new DistinctIds();
  readonly #links = new Map<"path" | "session", readonly JsonRecord[]>();
  #subagentSelf: SubagentSelf | undefined;
  #callIds: ReadonlySet<string> | undefined;

  constructor(
    session: AtifSource,
    options: ExportAtifOptions,
    content: ContentWriter,
    issues: ConversionIssues,
  ) {
    this.#session = session;
    this.#options = options;
    this.#issues = issues;
    this.#steps = new StepWriter(content, issues);
    const leafId = options.leafId ?? session.getLeafId();
    this.#path = leafId === null ? [] : session.getBranch(leafId);
    if (this.#path.length === 0 && options.leafId !== undefined) {
      const message = `No entry has the id ${options.leafId}; specify a different id.`;
      throw new SessionError("ENTRY_NOT_FOUND", message, { details: { entryId: options.leafId } });
    }
    if (options.compacted === "context") this.#addContext();
    else for (const entry of this.#path) this.#steps.addEntry(entry, this.#isInherited(entry));
    this.#ids.take(this.id);
  }

  /** Whether no entry on the path is a step. */
  get isEmpty(): boolean {
    return this.#steps.steps.length === 0;
  }

  /** Returns whether the header identifies the other session as this session's parent. */
  isStartedBy(other: TrajectoryWriter): boolean {
    const id = other.#session.getHeader()?.id ?? "";
    const parent = this.#session.getHeader()?.parentSession ?? "";
    return id !== "" && (parent === id || parent.includes(`_${id}.jsonl`));
  }

  /** Returns the result of the call that started a subagent; undefined if the call is not on this path. */
  findSubagentResult(subagent: TrajectoryWriter): AtifResult | undefined {
    const callId = findStartingCall(this.#findLinks("path"), subagent.#self);
    return callId === undefined ? undefined : this.#steps.findResult(callId);
  }

  /** Returns whether a known call in this session, on any branch, started a subagent. */
  hasStarted(subagent: TrajectoryWriter): boolean {
    const callId = findStartingCall(this.#findLinks("session"), subagent.#self);
    return callId !== undefined && this.#findCallIds().has(callId);
  }

  /** Returns this session's ids and its link as a subagent. */
  get #self(): SubagentSelf {
    this.#subagentSelf ??= readSelf(this.#path, this.#session.getHeader()?.id);
    return this.#subagentSelf;
  }

  /** Returns the links to subagents on the path or in the whole session. */
  #findLinks(of: "path" | "session"): readonly JsonRecord[] {
    return getOrAdd(this.#links, of, () =>
      (of === "path" ? this.#path : this.#session.getEntries())
        .filter((entry) => toRecord(entry)["customType"] === SUBAGENT_CUSTOM_TYPE)
        .map(getSubagentLink),
    );
  }

  #findCallIds(): ReadonlySet<string> {
    this.#callIds ??= new Set(
      this.#session
        .getEntries()
        .flatMap(getToolCalls)
        .map(({ id }) => id),
    );
    return this.#callIds;
  }

  /** Embeds a subagent's trajectory, and adds a reference to the result of the call that started it. */
  embed(subagent: TrajectoryWriter, result: AtifResult | undefined): void {
    const trajectory = subagent.finish();
    const id = this.#ids.take(subagent.id);
    trajectory.trajectory_id = id;
    this.#subagents.push(trajectory);
    if (result === undefined)
      this.#issues.report("FLAG_DROPPED", -1, `No call on the path started the subagent ${id}.`);
    else result.subagent_trajectory_ref = [...(result.subagent_trajectory_ref ?? []), { trajectory_id: id }];
  }

  finish(): AtifTrajectory {
    const { steps, metrics } = this.#steps;
    const header = this.#session.getHeader();
    const embedded = this.#subagents.map((one) => toMetrics(one.final_metrics));
    return pickDefined({
      schema_version: ATIF_VERSION,
      session_id: header?.id || undefined,
      trajectory_id: this.id,
      agent: this.#makeAgent(),
      steps,
      final_metrics: { ...sumMetrics([...metrics, ...embedded]), total_steps: steps.length },
      extra: this.#makeExtra(),
      subagent_trajectories: this.#subagents.length === 0 ? undefined : this.#subagents,
    });
  }

  /** Id of the trajectory, which consists of the session id and the leaf id. */
  get id(): string {
    return `${this.#session.getHeader()?.id ?? ""}:${this.#path.at(-1)?.id ?? ""}`;
  }

  #addContext(): void {
    const places = new Map(this.#path.map(({ id }, index) => [id, index]));
    const { entries } = projectPath(makeEntryPath(this.#path));
    const [first] = entries;
    const start = first?.sourceEntry.type === "compaction" ? (places.get(first.sourceEntry.id) ?? -1) : -1;
    for (const { sourceEntry, messages } of entries) {
      const isKept = (places.get(sourceEntry.id) ?? -1) < start || this.#isInherited(sourceEntry);
      for (const message of messages) {
        if (toRecord(message)["excludeFromContext"] === true || !isStoredMessage(message)) continue;
        const isTail = sourceEntry === first?.sourceEntry && start >= 0 && !INTRODUCTIONS.has(message.role);
        this.#steps.addMessage(sourceEntry, message, isKept || isTail);
      }
    }
  }

  /** Returns whether an entry is a copy. A copy is older than its fork, or was imported as copied context. */
  #isInherited(entry: AnySessionEntry): boolean {
    const { atif } = toRecord(getMessageFields(entry)["details"]);
    if (toRecord(atif)["is_copied_context"] === true) return true;
    const header = this.#session.getHeader();
    if (header?.parentSession === undefined) return false;
    return Date.parse(entry.timestamp) < Date.parse(header.timestamp);
  }

  #makeAgent(): AtifAgent {
    const data = findData(this.#path, IMPORT_CUSTOM_TYPE);
    const foreign = toRecord(findData(this.#path, TRAJECTORY_CUSTOM_TYPE)["agent"]);
    const messages = this.#path.flatMap((entry) => {
      const { message } = toRecord(entry);
      return isStoredMessage(message) ? message : [];
    });
    const tools = foldSystemMessages(messages, 0)?.toolsAdded?.map(toToolDefinition) ?? [];
    return pickDefined({
      name: toText(foreign["name"]) || toText(data["source"]) || "sessiontree",
      version:
        toText(foreign["version"]) ||
        toText(data["sourceVersion"]) ||
        (data["source"] === undefined ? getPackageVersion() : "unknown"),
      model_name: this.#steps.model,
      tool_definitions: tools.length === 0 ? undefined : tools,
      extra: isJsonRecord(foreign["extra"]) ? foreign["extra"] : undefined,
    });
  }

  #makeExtra(): JsonRecord {
    const { usage, state, steps } = this.#steps;
    const header = this.#session.getHeader();
    const own = pickDefined({
      started_at: header?.timestamp,
      cwd: header?.cwd || undefined,
      leaf_id: this.#path.at(-1)?.id,
      steps: steps.length,
      parent_session: header?.parentSession,
      usage: usage.length === 0 ? undefined : usage,
      state: this.#options.state === true && state.length > 0 ? state : undefined,
      lines: this.#makeLines(),
    });
    return { [OWN_EXTRA]: own };
  }

  #makeLines(): unknown[] | undefined {
    const { lossless = false } = this.#options;
    if (lossless === false) return undefined;
    if (lossless !== true) return toStoredLines(lossless);
    const records = [this.#session.getHeader() ?? [], this.#session.getEntries()].flat();
    return toStoredLines(records.map((record) => `${encodeRecord(record)}\n`).join(""));
  }
}

/** Roles of the messages at the start of a compacted context, before the messages that the compaction keeps. */
const INTRODUCTIONS: ReadonlySet<string> = new Set(["system", "compactionSummary"]);

function findData(path: readonly AnySessionEntry[], type: string): JsonRecord {
  return toRecord(path.map(toRecord).find(({ customType }) => customType === type)?.["data"]);
}

function toToolDefinition({ name, description, parameters }: ToolDeclaration): JsonRecord {
  return { type: "function", function: pickDefined({ name, description, parameters }) };
}

/** A subagent's session, as identified by links. */
interface SubagentSelf {
  readonly ids: readonly string[];
  readonly isImported: boolean;
  /** Id of the call that started the subagent, according to the subagent's own session. */
  readonly toolCallId: string | undefined;
}

function readSelf(path: readonly AnySessionEntry[], sessionId: string | undefined): SubagentSelf {
  const origin = path.map(findImportOrigin).find((one) => one !== undefined);
  const [toolCallId] = path
    .slice(0, FRONT_ENTRIES)
    .map((entry) => getSubagentLink(entry)["toolCallId"])
    .filter((id) => typeof id === "string");
  const ids = [sessionId, origin?.sourceId].filter((id) => id !== undefined);
  return { ids, isImported: origin !== undefined, toolCallId };
}

/** Returns the id of the call that started a subagent, from a link in the caller's session or from the subagent's session. */
function findStartingCall(
  links: readonly JsonRecord[],
  { ids, isImported, toolCallId }: SubagentSelf,
): string | undefined {
  const isLinked = (link: JsonRecord) =>
    ids.some((id) => id === link["sessionId"] || (isImported && id === link["agentId"]));
  const linked = links.filter(isLinked).map((link) => link["toolCallId"]);
  return linked.find((id) => typeof id === "string") ?? toolCallId;
}

function getSubagentLink(entry: AnySessionEntry): JsonRecord {
  const { customType, data } = toRecord(entry);
  return customType === SUBAGENT_CUSTOM_TYPE ? toRecord(data) : {};
}
