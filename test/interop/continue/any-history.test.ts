import type { AgentMessage, SessionManager } from "sessiontree";
import { isSessionError } from "sessiontree";
import { expect, test } from "vitest";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import type { ContinuingAgent, ExportedSession } from "../../../src/interop/continue/exported-session.ts";
import { toAnthropic } from "../../../src/interop/convert/anthropic/to-anthropic.ts";
import { toGemini } from "../../../src/interop/convert/gemini/to-gemini.ts";
import fc from "../../support/fast-check.ts";
import { hostile } from "../convert/support/conversations.ts";
import { ID, NOW, openStoredMessages } from "./support/copied-sessions.ts";
import { readDocument, readLog, sortResults } from "./support/exported-histories.ts";
import { readGeminiRequest } from "./support/gemini-opencode-pi.ts";
import { readAnthropicRequest, type Said } from "./support/said.ts";

const HOME = { api: "test", provider: "acme", model: "m1" };

/** Messages that any writer may have stored, without the originals that go back only to their own provider. */
const histories = hostile(HOME).map((messages) =>
  messages.map((message): object => ({ ...message, details: undefined })),
);

/** Texts that requests add where a provider requires one. */
const ADDED = /^\((?:The conversation starts with an answer\.|see the image that follows)\)$/;

/** Characters of a tool's name that every provider accepts. */
const MAX_NAME = 64;

/** Removes provider-specific details: image positions, blank or added texts, trailing white space, and the ends of long names. */
function normalize(said: readonly Said[]): Said[] {
  return said.flatMap((one): Said[] => {
    if (one.kind === "image") return [];
    if (one.kind === "call") return [{ ...one, name: one.name.slice(0, MAX_NAME) }];
    const text = ADDED.test(one.text) ? "" : one.text.trimEnd();
    return one.kind !== "result" && text.trim() === "" ? [] : [{ ...one, text }];
  });
}

function tryExport(agent: ContinuingAgent, session: SessionManager): ExportedSession | undefined {
  try {
    return exportFor(agent, session, { id: ID, now: NOW });
  } catch (error) {
    if (isSessionError(error, "NOT_A_SESSION")) return undefined;
    throw error;
  }
}

const PROGRAMS = [
  {
    agent: "gemini",
    read: readLog,
    request: (messages: readonly AgentMessage[]) =>
      readGeminiRequest(toGemini(messages, { dropThinking: true, model: "gemini-3" })),
  },
  {
    agent: "opencode",
    read: readDocument,
    request: (messages: readonly AgentMessage[]) =>
      readAnthropicRequest(toAnthropic(messages, { dropThinking: true, model: "other" })),
  },
] as const;

test.each(PROGRAMS)(
  "any history has the same texts, calls, and results in a file for $agent",
  ({ agent, read, request }) => {
    let exports = 0;
    fc.assert(
      fc.property(histories, (stored) => {
        const session = openStoredMessages(stored);
        const exported = tryExport(agent, session);
        const messages = session.buildSessionContext().messages.filter(({ role }) => role !== "system");
        const expected = sortResults(normalize(request(messages)));
        if (exported === undefined) expect(expected).toEqual([]);
        else {
          exports++;
          expect(sortResults(normalize(read(exported)))).toEqual(expected);
        }
      }),
      { numRuns: 500 },
    );
    expect(exports).toBeGreaterThan(0);
  },
);
