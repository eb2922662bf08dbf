import { SessionError } from "../../../core/format/errors.ts";
import { addTo } from "../../../core/format/group-by.ts";
import { isSidechain, linkRecords, type RecordNode } from "../claude-code/record-graph.ts";
import { makeSubagentLink } from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import {
  type BuilderInput,
  makeSubagentSessionId,
  makeSubagentSourceId,
  SessionBuilder,
  type SessionOrigin,
} from "../session-builder.ts";
import { findFirstText, getMember, pluckField, type SourceText, toNonemptyText } from "../source-text.ts";
import { findAgentId, findResponseEvent } from "./call-reports.ts";
import { emitThread, type Subagent } from "./thread-entries.ts";

/** A Qwen Code session: the records of its file. */
export interface QwenInput extends SourceText, Omit<BuilderInput, "cwd"> {
  /** Session id to use if no record contains an id: the name of the file. */
  readonly sourceId?: string;
  /** Id of the new session. The ids of subagents' sessions are derived from it. Default: the source's session id. */
  readonly ownId?: string;
}

/** Agent id used for the main agent's records. */
const MAIN = "";

/**
 * Converts Qwen Code records to sessions: one for the main conversation, and one for each subagent in the records.
 *
 * After a rewind, the old turns remain as a branch. Calls that no message reports, such as Qwen Code's own calls, are converted
 * to usage entries.
 *
 * @returns The main session first; empty if there are no messages.
 * @throws {SessionError} `VERSION_TOO_NEW` if the records belong to a managed session, whose log has a different format.
 * @remarks Cost: O(records). Source: docs/import-records.md#qwen-code
 */
export function importQwen(input: QwenInput): ImportedSession[] {
  const { records, path } = input;
  if (records.some(({ value }) => toNonemptyText(value["subtype"])?.startsWith("managed_session_"))) {
    const message = `${path ?? "The file"} is the log of a managed session of Qwen Code, which has its own format. Update sessiontree, or import sessions that are not managed.`;
    throw new SessionError("VERSION_TOO_NEW", message);
  }
  return new QwenImport(input).run();
}

class QwenImport {
  readonly #input: QwenInput;
  readonly #sourceId: string;
  readonly #ownId: string;
  readonly #graph: ReturnType<typeof linkRecords>;
  /** Records by agent id. The main agent's records come first. */
  readonly #lanes = new Map<string, RecordNode[]>([[MAIN, []]]);

  constructor(input: QwenInput) {
    this.#input = input;
    this.#sourceId = findFirstText(input.records, "sessionId") ?? input.sourceId ?? "unknown";
    this.#ownId = input.ownId ?? this.#sourceId;
    this.#graph = linkRecords(input.records);
    for (const node of this.#graph.nodes) {
      const agentId = isSidechain(node) ? (toNonemptyText(node.value["agentId"]) ?? "unknown") : MAIN;
      addTo(this.#lanes, agentId, node);
    }
  }

  run(): ImportedSession[] {
    const agents = this.#subagents();
    return Array.from(this.#lanes, ([agentId, nodes]) => {
      const isSaid = nodes.some(({ type }) => type === "user" || type === "assistant");
      return isSaid ? [this.#importLane(agentId, nodes, agents)] : [];
    }).flat();
  }

  /** Returns the agents that have their own records, with the known facts about each agent. */
  #subagents(): Map<string, Subagent> {
    const agents = new Map<string, Subagent>();
    for (const [agentId, [first]] of this.#lanes) {
      if (agentId === MAIN) continue;
      const nickname = toNonemptyText(first?.value["agentName"]);
      // The agent's id consists of its name and the id of the call that started it.
      const isNamed = nickname !== undefined && agentId.startsWith(`${nickname}-`);
      const toolCallId = isNamed ? toNonemptyText(agentId.slice(nickname.length + 1)) : undefined;
      const sessionId = makeSubagentSessionId(this.#ownId, agentId);
      agents.set(agentId, { agentId, sessionId, toolCallId, nickname, calls: {} });
    }
    for (const node of this.#graph.nodes) {
      const event = findResponseEvent(node) ?? {};
      const agent = agents.get(findAgentId(event) ?? MAIN);
      if (agent !== undefined) agent.calls = event;
    }
    return agents;
  }

  #importLane(
    agentId: string,
    nodes: readonly RecordNode[],
    agents: ReadonlyMap<string, Subagent>,
  ): ImportedSession {
    const { records, issues } = this.#input;
    const { sessionId: id = this.#ownId, toolCallId, nickname, calls = {} } = agents.get(agentId) ?? {};
    const builder = new SessionBuilder(this.#input, {
      source: "qwen",
      sourceId: agentId === MAIN ? this.#sourceId : makeSubagentSourceId(this.#sourceId, agentId),
      sourceVersion: findFirstText(records, "version"),
      id,
      folders: pluckField(records, "cwd"),
      startedAt: nodes[0]?.value["timestamp"],
      ...(agentId === MAIN ? this.#getOrigin(nodes) : { startedBy: this.#sourceId }),
      issues: agentId === MAIN ? [...issues, ...this.#graph.issues] : [],
    });
    if (agentId === MAIN) {
      builder.counts.records = records.length - this.#graph.nodes.length + nodes.length;
      builder.drop("repeated", this.#graph.repeated);
      builder.drop("record without an id", records.length - this.#graph.nodes.length - this.#graph.repeated);
    } else {
      builder.counts.records = nodes.length;
      builder.addBehind(`${id} link`, undefined, makeSubagentLink({ agentId, toolCallId, nickname }));
    }
    emitThread(nodes, { builder, agents, calls });
    return builder.finish();
  }

  /** Returns the session that this session was copied from, or the session that started it. */
  #getOrigin(nodes: readonly RecordNode[]): Pick<SessionOrigin, "forkOf" | "startedBy"> {
    for (const { value } of nodes) {
      const forkOf = toNonemptyText(getMember(value, "forkedFrom")["sessionId"]);
      if (forkOf !== undefined && forkOf !== this.#sourceId) return { forkOf };
      const startedBy = toNonemptyText(getMember(value, "systemPayload")["parentSessionId"]);
      if (startedBy !== undefined && value["subtype"] === "parent_session") return { startedBy };
    }
    return {};
  }
}
