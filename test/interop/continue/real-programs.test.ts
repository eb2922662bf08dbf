import { describe, expect, test } from "vitest";
import { REAL_CLAUDE_CODE, REAL_CODEX } from "./support/codex-and-claude.ts";
import { chooseSessions, NO_CORPUS, openCorpusSessions } from "./support/corpus-sessions.ts";
import { readContext } from "./support/exported-requests.ts";
import { continueReally, findWhyNot } from "./support/real-program.ts";
import { includesRun, trimUserTexts } from "./support/said.ts";

const WHY_NOT = findWhyNot([REAL_CODEX, REAL_CLAUDE_CODE]) ?? NO_CORPUS;

/** How many sessions each program continues. */
const SESSIONS = 40;

/** Some seconds for each. */
const TIMEOUT_MS = SESSIONS * 30_000;

const PROMPT = "Go on from here.";

describe.skipIf(WHY_NOT !== undefined)(`real programs${WHY_NOT ? ` (${WHY_NOT})` : ""}`, () => {
  test.each([
    { agent: "codex", program: REAL_CODEX },
    { agent: "claude-code", program: REAL_CLAUDE_CODE },
  ] as const)(
    "$agent sends what the session says, and the next prompt",
    async ({ agent, program }) => {
      const sessions = chooseSessions(await openCorpusSessions(), SESSIONS);
      expect(sessions).toHaveLength(SESSIONS);
      for (const [i, session] of sessions.entries()) {
        const name = session.getSessionFile();
        const sent = trimUserTexts(
          await continueReally(program, session, { compacted: i % 2 === 0 ? "context" : "whole" }, PROMPT),
        );
        const expected = trimUserTexts(readContext(agent, session));
        expect(includesRun(sent, expected), `${name}\n${JSON.stringify({ sent, expected })}`).toBe(true);
        expect(JSON.stringify(sent.slice(expected.length))).toContain(PROMPT);
      }
    },
    TIMEOUT_MS,
  );
});
