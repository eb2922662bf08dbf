import { describe, expect, test } from "vitest";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { NO_CORPUS, openCorpusSessions } from "./support/corpus-sessions.ts";
import { readContext, readRollout, readTranscript } from "./support/exported-requests.ts";

describe.skipIf(NO_CORPUS !== undefined)(
  `sessions of the corpora${NO_CORPUS ? ` (${NO_CORPUS})` : ""}`,
  () => {
    test("say the same in the files of Codex and Claude Code, whether cut or whole", async () => {
      const sessions = await openCorpusSessions();
      expect(sessions.length).toBeGreaterThan(40);
      for (const session of sessions) {
        for (const compacted of ["context", "whole"] as const) {
          const name = `${session.getSessionFile()} ${compacted}`;
          expect(readRollout(exportFor("codex", session, { compacted })), name).toEqual(
            readContext("codex", session),
          );
          expect(readTranscript(exportFor("claude-code", session, { compacted })), name).toEqual(
            readContext("claude-code", session),
          );
        }
      }
    });
  },
);
