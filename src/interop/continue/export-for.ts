import { toArray, toRecord } from "../../core/context/entry-fields.ts";
import { assertSession } from "../../core/format/arguments.ts";
import { SessionError } from "../../core/format/errors.ts";
import { toSafeString } from "../../core/format/json.ts";
import type { AgentMessage } from "../../core/format/message.ts";
import { assertOptions, COUNT, makeChoiceRule, type OptionRules, TEXT } from "../../core/format/options.ts";
import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import { toAnthropic } from "../convert/anthropic/to-anthropic.ts";
import { isImageLost } from "../convert/request-content.ts";
import { readSteps } from "../convert/session/session-steps.ts";
import { listBranchLosses } from "./branch-losses.ts";
import { writeClaudeCode } from "./claude-code.ts";
import { writeCodex } from "./codex.ts";
import {
  CONTINUING_AGENTS,
  type ContinuingAgent,
  type ExportedSession,
  type ExportForOptions,
  type ExportIssue,
} from "./exported-session.ts";
import { writeGemini } from "./gemini.ts";
import { writeOpenCode } from "./opencode.ts";
import { listForeignTools } from "./own-tools.ts";
import { writePi } from "./pi.ts";
import type { SessionWriter, WriteTarget } from "./session-writer.ts";

const WRITERS: Readonly<Record<ContinuingAgent, SessionWriter>> = {
  "claude-code": writeClaudeCode,
  codex: writeCodex,
  gemini: writeGemini,
  opencode: writeOpenCode,
  pi: writePi,
};

/** Validation rules for these options. The format of the id has its own check and error. */
export const EXPORT_RULES: OptionRules<ExportForOptions> = {
  leafId: TEXT,
  cwd: TEXT,
  compacted: makeChoiceRule("context", "whole"),
  id: TEXT,
  now: COUNT,
  model: TEXT,
  project: TEXT,
};

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;

/**
 * Throws if a program is unknown.
 *
 * @throws {TypeError}
 */
export function assertAgent(agent: unknown): void {
  if (typeof agent === "string" && Object.hasOwn(WRITERS, agent)) return;
  throw new TypeError(
    `A session cannot continue in ${toSafeString(agent)}; choose one of ${CONTINUING_AGENTS.join(", ")}.`,
  );
}

/**
 * Converts a session to files that allow another program to continue it.
 *
 * Does not write files; `continueIn` does. The other model gets the same text, tool calls, and results. Thinking is omitted,
 * because providers accept it only from the model that wrote it.
 *
 * @param agent - Program that continues the session.
 * @param session - Session to export. It is not changed.
 * @returns The files, the commands that continue the session, and issues about losses.
 * @throws {SessionError} `ENTRY_NOT_FOUND`; `NOT_A_SESSION` if the path has no message
 * @throws {TypeError} If the program or an option is unknown.
 * @remarks Cost: O(bytes of the session). Source: docs/continue.md
 */
export function exportFor(
  agent: ContinuingAgent,
  session: ReadonlySessionManager,
  options: ExportForOptions = {},
): ExportedSession {
  assertSession(session);
  assertOptions<ExportForOptions>(options, EXPORT_RULES);
  assertAgent(agent);
  const target = makeTarget(session, options);
  const messages = readSteps(session, target.leafId).flatMap((step) => step.messages);
  // If no provider supports any of the messages, there is nothing to continue.
  const said = messages.filter(({ role }) => role !== "system");
  if (toAnthropic(said, { dropThinking: true }).messages.length === 0) throw makeNoMessageError();
  const { issues, ...written } = WRITERS[agent](session, target);
  const common = agent === "pi" ? [] : listLosses(agent, session, target, messages);
  return { id: target.id, ...written, issues: [...common, ...toExportIssues(issues)] };
}

function makeTarget(session: ReadonlySessionManager, options: ExportForOptions): WriteTarget {
  const { id = crypto.randomUUID(), compacted = "context", now = Date.now() } = options;
  if (!UUID.test(id))
    throw new TypeError(`The id of a session in another program must be a UUID, not ${id}.`);
  const leafId = options.leafId ?? session.getLeafId();
  if (leafId === null) throw makeNoMessageError();
  const cwd = options.cwd ?? session.getCwd();
  return { leafId, cwd, compacted, id, now, project: options.project, model: options.model };
}

function makeNoMessageError(): SessionError {
  const message = "The session has no messages to continue; choose a different session.";
  return new SessionError("NOT_A_SESSION", message, {});
}

/** Lists the losses that are the same for all programs. */
function listLosses(
  agent: Exclude<ContinuingAgent, "pi">,
  session: ReadonlySessionManager,
  { leafId }: WriteTarget,
  messages: readonly AgentMessage[],
): ExportIssue[] {
  const losses: ExportIssue[] = [];
  const report = (code: ExportIssue["code"], message: string) => losses.push({ code, index: -1, message });
  if (messages.some(({ role }) => role === "system"))
    report("SYSTEM_LEFT_OUT", "Left out the session's instructions, because the program has its own.");
  const foreign = listForeignTools(agent, messages.flatMap(listCalledTools));
  if (foreign.length > 0)
    report("TOOLS_FOREIGN", `Some calls use tools that the program may not have: ${foreign.join(", ")}.`);
  return [...losses, ...listBranchLosses(session, leafId)];
}

function listCalledTools(message: AgentMessage): string[] {
  const blocks = message.role === "assistant" ? toArray(message.content).map(toRecord) : [];
  return blocks.flatMap(({ type, name }) => (type === "toolCall" && typeof name === "string" ? [name] : []));
}

/**
 * Assigns lost images their own code, and removes duplicate issues, because messages kept by a compaction are exported
 * twice.
 */
function toExportIssues(issues: readonly ExportIssue[]): ExportIssue[] {
  const byText = new Map<string, ExportIssue>();
  for (const issue of issues) {
    const named: ExportIssue = isImageLost(issue) ? { ...issue, code: "IMAGE_LEFT_OUT" } : issue;
    const key = `${named.code} ${named.entryId ?? named.index} ${named.message}`;
    if (!byText.has(key)) byText.set(key, named);
  }
  return [...byText.values()];
}
