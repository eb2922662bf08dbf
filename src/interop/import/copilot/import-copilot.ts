import type { UnknownEntry } from "../../../core/format/entry.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { makeSubagentLink } from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import {
  type BuilderInput,
  makeSubagentSessionId,
  makeSubagentSourceId,
  SessionBuilder,
  type SessionOrigin,
} from "../session-builder.ts";
import { getMember, makeIssue, type SourceRecord, type SourceText, toNonemptyText } from "../source-text.ts";
import { CountedTokens, NamedModels } from "./content.ts";
import { type CopilotRows, findTurnsWithoutEvents } from "./stored-turns.ts";
import { type SharedState, ThreadWriter } from "./thread-writer.ts";

/** Events of a GitHub Copilot CLI session. */
export interface CopilotInput extends SourceText, Omit<BuilderInput, "cwd"> {
  /** Session id to use if the file's first event is missing: the name of the file's folder. */
  readonly sourceId?: string;
  /** Id of the new session. The ids of subagents' sessions are derived from it. Default: the source's session id. */
  readonly ownId?: string;
  /** Content of the `workspace.yaml` next to the file. */
  readonly workspace?: string;
  /**
   * Entries from an earlier import. They preserve turns that the user rewound, because Copilot deletes such turns from the file.
   */
  readonly known?: readonly UnknownEntry[];
  /** Rows from Copilot's database for turns that the user rewound. */
  readonly rows?: CopilotRows;
}

/** Supported event version. */
const VERSION = 1;

/**
 * Converts GitHub Copilot CLI events to sessions: one for the main conversation, and one for each subagent. Subagent events are
 * mixed with the main agent's events.
 *
 * @returns The main session first; empty if there are no messages.
 * @remarks Cost: O(events). Source: docs/import-records.md#github-copilot-cli
 */
export function importCopilot(input: CopilotInput): ImportedSession[] {
  return input.records.some(({ value: { type } }) => type === "user.message" || type === "assistant.message")
    ? new CopilotImport(input).run()
    : [];
}

class CopilotImport {
  readonly #input: CopilotInput;
  readonly #sourceId: string;
  readonly #ownId: string;
  readonly #start: JsonRecord;
  /** Candidates for the working directory, also used for subagents. */
  readonly #folders: readonly unknown[];
  readonly #main: ThreadWriter;
  /** Writers for the subagents' sessions, by agent id. */
  readonly #subagents = new Map<string, ThreadWriter>();
  readonly #shared: SharedState;
  readonly #seen = new Set<string>();

  constructor(input: CopilotInput) {
    const { records } = input;
    const start = records.find(({ value }) => value["type"] === "session.start");
    this.#input = input;
    this.#shared = {
      assets: new Map(),
      callers: new Map(),
      agents: new Map(),
      counted: new CountedTokens(),
      models: new NamedModels(records),
    };
    this.#start = getMember(start?.value ?? {}, "data");
    this.#sourceId = toNonemptyText(this.#start["sessionId"]) ?? input.sourceId ?? "unknown";
    this.#ownId = input.ownId ?? this.#sourceId;
    const told = records.map(({ value }) => getMember(getMember(value, "data"), "context")["cwd"]);
    this.#folders = [...told, findWorkspaceField(input.workspace, "cwd")];
    const origin = {
      sourceId: this.#sourceId,
      id: this.#ownId,
      forkOf: this.#original(),
      issues: input.issues,
    };
    const builder = this.#makeBuilder(records[0], origin);
    const { version = VERSION } = this.#start;
    if (version !== VERSION) {
      const message = `The events have version ${toSafeString(version)}, which is not supported; they were read as version ${VERSION}. Check the session.`;
      builder.issues.push(makeIssue("VERSION_UNCLEAR", message, start));
    }
    const name = findWorkspaceField(input.workspace, "name");
    if (name !== undefined) {
      const isUsers = findWorkspaceField(input.workspace, "user_named") === "true";
      builder.addName(`copilot name ${name}`, name, isUsers);
    }
    const turns = findTurnsWithoutEvents(input.rows, records);
    this.#main = new ThreadWriter(builder, this.#shared, { known: input.known ?? [], turns });
    for (const { value } of records) if (value["type"] === "session.binary_asset") this.#takeAsset(value);
  }

  run(): ImportedSession[] {
    for (const record of this.#input.records) this.#take(record);
    return [this.#main, ...this.#subagents.values()].map((thread) => thread.finish());
  }

  #makeBuilder(
    first: SourceRecord | undefined,
    origin: Pick<SessionOrigin, "sourceId" | "id" | "startedBy" | "forkOf" | "issues">,
  ) {
    return new SessionBuilder(this.#input, {
      source: "copilot",
      sourceVersion: toNonemptyText(this.#start["copilotVersion"]),
      folders: this.#folders,
      startedAt: first?.value["timestamp"],
      ...origin,
    });
  }

  /**
   * Returns the session that this session was forked from and whose calls it repeats. The usage records identify that session.
   */
  #original(): string | undefined {
    for (const { value } of this.#input.records) {
      if (value["type"] !== "session.usage_record" || value["agentId"] !== undefined) continue;
      const usage = getMember(getMember(value, "data"), "usage");
      const sourceId = toNonemptyText(getMember(usage, "accounting")["sourceSessionId"]);
      if (sourceId !== undefined) return sourceId;
    }
    return undefined;
  }

  #takeAsset(event: JsonRecord): void {
    const { assetId, data } = getMember(event, "data");
    if (typeof assetId === "string" && typeof data === "string") this.#shared.assets.set(assetId, data);
  }

  #take(record: SourceRecord): void {
    const { value } = record;
    const agentId = toNonemptyText(value["agentId"]);
    const thread = agentId === undefined ? this.#main : this.#getSubagent(agentId, record);
    const id = toNonemptyText(value["id"]);
    if (id !== undefined && this.#seen.has(id)) thread.drop("repeated");
    else thread.take(record);
    if (id !== undefined) this.#seen.add(id);
  }

  /** Returns the thread of a subagent, creating it at the subagent's first event. */
  #getSubagent(agentId: string, record: SourceRecord): ThreadWriter {
    const known = this.#subagents.get(agentId);
    if (known !== undefined) return known;
    const { toolCallId, parentToolCallId, agentName, agentDisplayName, agentDescription } = getMember(
      record.value,
      "data",
    );
    const callId = toNonemptyText(toolCallId) ?? toNonemptyText(parentToolCallId);
    const callerId = callId === undefined ? undefined : this.#shared.callers.get(callId);
    const id = makeSubagentSessionId(this.#ownId, agentId);
    const builder = this.#makeBuilder(record, {
      sourceId: makeSubagentSourceId(this.#sourceId, agentId),
      id,
      startedBy: callerId === undefined ? this.#sourceId : makeSubagentSourceId(this.#sourceId, callerId),
    });
    const told = { role: agentName, nickname: agentDisplayName, description: agentDescription };
    builder.addBehind(`${id} link`, undefined, makeSubagentLink({ agentId, toolCallId: callId, ...told }));
    if (callId !== undefined) this.#shared.agents.set(callId, { agentId, sessionId: id });
    const thread = new ThreadWriter(builder, this.#shared, undefined, agentId);
    this.#subagents.set(agentId, thread);
    return thread;
  }
}

/** Returns a single-line field of `workspace.yaml`; undefined if the field is missing. */
function findWorkspaceField(workspace: string | undefined, name: string): string | undefined {
  const [, raw = ""] = new RegExp(`^${name}:[ \\t]*(.*?)\\s*$`, "m").exec(workspace ?? "") ?? [];
  if (raw.startsWith('"')) return toNonemptyText(parseJson(raw)?.value);
  if (raw.startsWith("'")) return toNonemptyText(raw.slice(1, -1).replaceAll("''", "'"));
  return /^[|>]/.test(raw) ? undefined : toNonemptyText(raw);
}
