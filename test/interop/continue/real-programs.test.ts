import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { assistant, call, toolResult } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { REAL_CLAUDE_CODE, REAL_CODEX } from "./support/codex-and-claude.ts";
import { makeSession, NOW } from "./support/copied-sessions.ts";
import { chooseSessions, NO_CORPUS, openCorpusSessions } from "./support/corpus-sessions.ts";
import { readContext } from "./support/exported-requests.ts";
import { continueReally, findWhyNot, installSession, runProgramOn } from "./support/real-program.ts";
import { includesRun, trimUserTexts } from "./support/said.ts";

const WHY_NOT = findWhyNot([REAL_CODEX, REAL_CLAUDE_CODE]) ?? NO_CORPUS;

/** Number of sessions that each program continues. */
const SESSIONS = 40;

/** Timeout in milliseconds: some seconds for each session. */
const TIMEOUT_MS = SESSIONS * 30_000;

const PROMPT = "Go on from here.";

/** A one-pixel image, which programs decode. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Creates a session with content that is hard to convert and an end at which a model must answer. */
function makeHardSession(): SessionManager {
  const image = { type: "image", data: PIXEL, mimeType: "image/png" } as const;
  const calls = [
    call("call_1|fc_9", "pi_bash", { command: "ls" }),
    call("b|ctc_2", "patch", { input: "-a" }),
  ];
  const session = makeSession(
    { role: "user", content: [{ type: "text", text: "Look" }, image], timestamp: NOW },
    assistant("", {}, ...calls),
    toolResult("b|ctc_2", "It failed.", true),
    { ...toolResult("call_1|fc_9", ""), content: [{ type: "text", text: "See" }, image] },
    assistant("Done."),
    assistant("And an open call.", {}, call("c", "pi_bash")),
  );
  session.appendSessionInfo("Hard");
  return session;
}

describe.skipIf(WHY_NOT !== undefined)(`real programs${WHY_NOT ? ` (${WHY_NOT})` : ""}`, () => {
  test.each([
    { agent: "codex", program: REAL_CODEX },
    { agent: "claude-code", program: REAL_CLAUDE_CODE },
  ] as const)(
    "$agent sends the session's content and the next prompt",
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

  test.each([
    { agent: "codex", program: REAL_CODEX },
    { agent: "claude-code", program: REAL_CLAUDE_CODE },
  ] as const)(
    "$agent continues images, failures, and foreign calls, twice, and keeps the provenance",
    async ({ agent, program }) => {
      const session = makeHardSession();
      const home = temporaryFolder();
      const cwd = join(home, "project");
      mkdirSync(cwd);
      const exported = exportFor(agent, session, { cwd });
      installSession(program, { home, session: exported });
      const expected = trimUserTexts(readContext(agent, session));
      for (const prompt of ["First", "Second"]) {
        const run = { home, cwd, session: exported, prompt };
        const sent = trimUserTexts(await runProgramOn(program, run));
        expect(includesRun(sent, expected), JSON.stringify({ sent, expected })).toBe(true);
        expect(JSON.stringify(sent.slice(expected.length))).toContain(prompt);
      }
      const [file] = exported.files;
      const after = readFileSync(join(home, program.folder, file?.path ?? ""), "utf8");
      // The record is the export's last line, followed by everything new.
      expect(after.startsWith(new TextDecoder().decode(file?.bytes))).toBe(true);
      expect(after.length).toBeGreaterThan(file?.bytes.length ?? 0);
    },
    TIMEOUT_MS,
  );
});
