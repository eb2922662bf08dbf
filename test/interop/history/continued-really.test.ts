import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { getTexts } from "../../../src/core/context/content-text.ts";
import { getMessageFields } from "../../../src/core/context/entry-fields.ts";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { canReadDatabases } from "../../../src/interop/history/sqlite.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { REAL_CLAUDE_CODE, REAL_CODEX } from "../continue/support/codex-and-claude.ts";
import { MODEL, REAL_GEMINI_CLI, REAL_OPENCODE } from "../continue/support/gemini-opencode-pi.ts";
import {
  findWhyNot,
  installSession,
  type RealProgram,
  runProgramOn,
} from "../continue/support/real-program.ts";
import { makeOriginal } from "./support/continuations.ts";
import { Places } from "./support/places.ts";
import { forget } from "./support/transcript.ts";

/** Timeout in milliseconds: some seconds for each run of a program. */
const TIMEOUT_MS = 180_000;

beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

const PROGRAMS = [REAL_CODEX, REAL_CLAUDE_CODE, REAL_GEMINI_CLI, REAL_OPENCODE].map((program) => {
  const whyNot =
    program === REAL_OPENCODE && !canReadDatabases() ? "needs node:sqlite" : findWhyNot([program]);
  return { program, whyNot, name: `${program.agent}${whyNot === undefined ? "" : ` (${whyNot})`}` };
});

/** Returns the trimmed texts on the path to the leaf. */
function saidAt(path: string): string[] {
  const session = SessionManager.open(path, { mode: "read-only" });
  expect(session.issues).toEqual([]);
  return session.getBranch().flatMap((entry) => {
    const { content } = getMessageFields(entry);
    return content === undefined ? [] : [getTexts(content).join("").trim()];
  });
}

describe.each(PROGRAMS)("$name", ({ program, whyNot }) => {
  test.skipIf(whyNot !== undefined)(
    "continues a session repeatedly, and each addition joins",
    async () => expectToJoin(program),
    TIMEOUT_MS,
  );
});

test.skipIf(findWhyNot([REAL_CLAUDE_CODE]) !== undefined)(
  `joins a fork of a continuation by Claude Code, too${findWhyNot([REAL_CLAUDE_CODE]) ? " (needs it)" : ""}`,
  async () => {
    const places = new Places();
    const path = await makeOriginal(places);
    const cwd = join(places.home, "project");
    mkdirSync(cwd, { recursive: true });
    const original = SessionManager.open(path, { mode: "read-only" });
    const session = exportFor("claude-code", original, { cwd });
    installSession(REAL_CLAUDE_CODE, { home: places.home, session });
    const run = (prompt: string, ...more: readonly string[]) => {
      const continueWith: RealProgram["continueWith"] = (...args) => [
        ...REAL_CLAUDE_CODE.continueWith(...args),
        ...more,
      ];
      return runProgramOn({ ...REAL_CLAUDE_CODE, continueWith }, { home: places.home, cwd, session, prompt });
    };
    await run("First.");
    await run("Forked.", "--fork-session");
    const options = { env: { HOME: places.home } };
    expect(await places.import(options)).toMatchObject([{ status: "grown" }, { status: "grown" }]);
    expect(places.files().size).toBe(1);
    const joined = SessionManager.open(path, { mode: "read-only" });
    const texts = joined.getEntries().map((entry) => getTexts(getMessageFields(entry).content).join(""));
    for (const text of ["Where is the leak?", "First.", "Forked."])
      expect(texts.filter((one) => one === text)).toHaveLength(1);
    forget(places);
    expect(await places.import(options)).toMatchObject([{ status: "unchanged" }, { status: "unchanged" }]);
  },
  TIMEOUT_MS,
);

async function expectToJoin(program: RealProgram): Promise<void> {
  const places = new Places();
  const path = await makeOriginal(places);
  const before = readFileSync(path, "utf8");
  const cwd = join(places.home, "project");
  mkdirSync(cwd, { recursive: true });
  const original = SessionManager.open(path, { mode: "read-only" });
  const session = exportFor(program.agent, original, { cwd, model: MODEL });
  installSession(program, { home: places.home, session });
  const said = saidAt(path);
  for (const prompt of ["First.", "Second."]) {
    const isFirst = prompt === "First.";
    const next = isFirst ? program : { ...program, importWith: () => ["--version"] };
    await runProgramOn(next, { home: places.home, cwd, session, prompt });
    said.push(prompt, "Continued.");
    const all = await places.import({ env: { HOME: places.home } });
    expect(all.filter(({ status }) => status !== "empty")).toMatchObject([{ status: "grown", path }]);
    expect(saidAt(path)).toEqual(said);
    forget(places);
    const again = await places.import({ env: { HOME: places.home } });
    expect(again.filter(({ status }) => status !== "empty")).toMatchObject([{ status: "unchanged", path }]);
  }
  expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
  expect(places.files().size).toBe(1);
}
