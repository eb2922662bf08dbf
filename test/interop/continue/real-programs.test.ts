import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { REAL_CLAUDE_CODE, REAL_CODEX } from "./support/codex-and-claude.ts";
import { NO_CORPUS, openCorpusSessions } from "./support/corpus-sessions.ts";
import { readContext } from "./support/exported-requests.ts";
import { findWhyNot, installSession, type RealProgram, runProgramOn } from "./support/real-program.ts";
import { includesRun, type Said, trimUserTexts } from "./support/said.ts";

const WHY_NOT = findWhyNot([REAL_CODEX, REAL_CLAUDE_CODE]) ?? NO_CORPUS;

/** How many sessions each program continues. */
const SESSIONS = 40;

/** Some seconds for each. */
const TIMEOUT_MS = SESSIONS * 30_000;

const PROMPT = "Go on from here.";

/** Spreads the choice over sessions of all programs. */
function chooseSessions(all: readonly SessionManager[]): SessionManager[] {
  return Array.from(
    { length: SESSIONS },
    (_, i) => all[Math.floor((i * all.length) / SESSIONS)] ?? [],
  ).flat();
}

/** Continues a session in a real program; returns what it sends to its model. */
async function continueReally(
  program: RealProgram,
  session: SessionManager,
  compacted: "context" | "whole",
): Promise<Said[]> {
  const home = temporaryFolder();
  const cwd = join(home, "project");
  mkdirSync(cwd);
  const exported = exportFor(program.agent, session, { cwd, compacted });
  installSession(program, { home, session: exported });
  return runProgramOn(program, { home, cwd, session: exported, prompt: PROMPT });
}

describe.skipIf(WHY_NOT !== undefined)(`real programs${WHY_NOT ? ` (${WHY_NOT})` : ""}`, () => {
  test.each([
    { agent: "codex", program: REAL_CODEX },
    { agent: "claude-code", program: REAL_CLAUDE_CODE },
  ] as const)(
    "$agent sends what the session says, and the next prompt",
    async ({ agent, program }) => {
      const sessions = chooseSessions(await openCorpusSessions());
      expect(sessions).toHaveLength(SESSIONS);
      for (const [i, session] of sessions.entries()) {
        const name = session.getSessionFile();
        const sent = trimUserTexts(await continueReally(program, session, i % 2 === 0 ? "context" : "whole"));
        const expected = trimUserTexts(readContext(agent, session));
        expect(includesRun(sent, expected), `${name}\n${JSON.stringify({ sent, expected })}`).toBe(true);
        expect(JSON.stringify(sent.slice(expected.length))).toContain(PROMPT);
      }
    },
    TIMEOUT_MS,
  );
});
