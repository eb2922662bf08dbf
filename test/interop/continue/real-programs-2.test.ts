import type { AgentMessage } from "sessiontree";
import { describe, expect, test } from "vitest";
import { toAnthropic } from "../../../src/interop/convert/anthropic/to-anthropic.ts";
import { toGemini } from "../../../src/interop/convert/gemini/to-gemini.ts";
import { chooseSessions, NO_CORPUS, openCorpusSessions } from "./support/corpus-sessions.ts";
import { sortResults, withoutAdded } from "./support/exported-histories.ts";
import {
  MODEL,
  REAL_GEMINI_CLI,
  REAL_OPENCODE,
  REAL_PI,
  readGeminiRequest,
} from "./support/gemini-opencode-pi.ts";
import { continueReally, findWhyNot } from "./support/real-program.ts";
import { readAnthropicRequest, type Said } from "./support/said.ts";

const PROGRAMS = [
  { program: REAL_GEMINI_CLI, toSaid: toGeminiSaid, normalize: withoutAdded },
  // Results are stored with their calls.
  { program: REAL_OPENCODE, toSaid: toAnthropicSaid, normalize: sortResults },
  { program: REAL_PI, toSaid: toAnthropicSaid, normalize: withoutOwnWords },
] as const;

const WHY_NOT = findWhyNot(PROGRAMS.map(({ program }) => program)) ?? NO_CORPUS;

/** Number of sessions that each program continues. */
const SESSIONS = 40;

/** Timeout in milliseconds: some seconds for each session. */
const TIMEOUT_MS = SESSIONS * 30_000;

/** Programs may or may not quote a prompt of several words. */
const PROMPT = "Continue";

function toGeminiSaid(messages: readonly AgentMessage[]): Said[] {
  return readGeminiRequest(toGemini(messages, { dropThinking: true }));
}

function toAnthropicSaid(messages: readonly AgentMessage[]): Said[] {
  return readAnthropicRequest(toAnthropic(messages, { dropThinking: true }));
}

/** Our phrases and pi's equivalents. */
const OWN_WORDS: readonly RegExp[] = [
  /^The conversation (?:history )?before this point was compacted.*(?=\n\n<summary>)/,
  /^The following is a summary of a branch.*(?=\n\n?<summary>)/,
  /^(?:The tool call was interrupted: it has no result\.|No result provided|\(see attached image\)|\(no output\))$/,
];

/** Removes the texts that pi words differently. */
function withoutOwnWords(said: readonly Said[]): Said[] {
  return said.map((one) =>
    "text" in one
      ? { ...one, text: OWN_WORDS.reduce((text, words) => text.replace(words, ""), one.text) }
      : one,
  );
}

describe.skipIf(WHY_NOT !== undefined)(`more real programs${WHY_NOT ? ` (${WHY_NOT})` : ""}`, () => {
  test.each(PROGRAMS)(
    "$program.agent sends the session's content and the next prompt",
    async ({ program, toSaid, normalize }) => {
      const sessions = chooseSessions(await openCorpusSessions(), SESSIONS);
      expect(sessions).toHaveLength(SESSIONS);
      for (const session of sessions) {
        const messages = session.buildSessionContext().messages.filter(({ role }) => role !== "system");
        const expected = normalize(toSaid(messages));
        const sent = normalize(await continueReally(program, session, { model: MODEL }, PROMPT));
        expect(sent.slice(0, expected.length), session.getSessionFile()).toEqual(expected);
        expect(sent.slice(expected.length), session.getSessionFile()).toContainEqual({
          kind: "user",
          text: PROMPT,
        });
      }
    },
    TIMEOUT_MS,
  );
});
