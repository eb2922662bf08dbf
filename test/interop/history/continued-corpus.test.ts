import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { encodeRecord } from "../../../src/core/jsonl/encode.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { takeSample } from "../../support/share.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { NO_CORPUS, openCorpusSessions } from "../continue/support/corpus-sessions.ts";
import { readContext } from "../continue/support/exported-requests.ts";
import { exportTo, importAll, PROGRAMS } from "./support/continuations.ts";
import { Places } from "./support/places.ts";

beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

/** Writes a session as one of this version to the sessions folder, under a name by which it is found. */
function keep(places: Places, session: SessionManager): string {
  mkdirSync(places.sessions, { recursive: true });
  const path = join(places.sessions, `2026_${session.getSessionId()}.jsonl`);
  const records = [{ ...session.getHeader(), version: 3 }, ...session.getEntries()];
  writeFileSync(path, records.map((record) => `${encodeRecord(record)}\n`).join(""));
  return path;
}

describe.skipIf(NO_CORPUS !== undefined)(
  `sessions of the corpora${NO_CORPUS ? ` (${NO_CORPUS})` : ""}`,
  () => {
    test.each(PROGRAMS)("are unchanged on return from %s, with what was added", async (program) => {
      for (const session of takeSample(await openCorpusSessions())) {
        const places = new Places();
        const path = keep(places, session);
        const name = session.getSessionFile();
        const kept = SessionManager.open(path, { mode: "read-only" });
        const context = readContext("claude-code", kept);
        for (const compacted of ["context", "whole"] as const) {
          const before = readFileSync(path, "utf8");
          const continuation = exportTo(places, program, kept, { compacted });
          const all = await importAll(places);
          // An export may have nothing to report.
          for (const { status } of all.slice(-1)) expect(["unchanged", "empty"], name).toContain(status);
          expect(readFileSync(path, "utf8")).toBe(before);
          continuation.addTurn("Go on.");
          await importAll(places);
          const after = SessionManager.open(path, { mode: "read-only" });
          const added = after.getEntries().slice(kept.getEntries().length);
          const said = JSON.stringify(added.filter(({ type }) => type === "message"));
          expect(said.split("done: Go on.").length, name).toBe(compacted === "context" ? 2 : 3);
          expect(places.files().size).toBe(1);
          if (compacted === "whole") continue;
          expect(readContext("claude-code", after), name).toEqual([
            ...context,
            { kind: "user", text: "Go on." },
            { kind: "model", text: "done: Go on." },
          ]);
        }
      }
    });
  },
);
