import { describe, expect, test } from "vitest";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { toGemini } from "../../../src/interop/convert/gemini/to-gemini.ts";
import { NO_CORPUS, openCorpusSessions } from "./support/corpus-sessions.ts";
import { readDocument, readLog, sortResults } from "./support/exported-histories.ts";
import { readContext, readRollout, readTranscript } from "./support/exported-requests.ts";
import { readGeminiRequest } from "./support/gemini-opencode-pi.ts";
import type { Said } from "./support/said.ts";

/** Replaces images that are not base64, as in one of the sessions. */
function replaceDamaged(said: readonly Said[]): Said[] {
  return said.map((one) =>
    one.kind === "image" && /=[^=]/.test(one.data) ? { kind: "user", text: "[image: image/png]" } : one,
  );
}

describe.skipIf(NO_CORPUS !== undefined)(
  `sessions of the corpora${NO_CORPUS ? ` (${NO_CORPUS})` : ""}`,
  () => {
    test("have the same content in the files of Codex and Claude Code, compacted or whole", async () => {
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

    test("have the same content in the files of Gemini CLI and OpenCode", async () => {
      for (const session of await openCorpusSessions()) {
        const name = session.getSessionFile();
        const messages = session.buildSessionContext().messages.filter(({ role }) => role !== "system");
        const expected = replaceDamaged(readGeminiRequest(toGemini(messages, { dropThinking: true })));
        expect(readLog(exportFor("gemini", session)), name).toEqual(expected);
        const written = readDocument(exportFor("opencode", session));
        expect(sortResults(written), name).toEqual(
          sortResults(replaceDamaged(readContext("claude-code", session))),
        );
      }
    });
  },
);
