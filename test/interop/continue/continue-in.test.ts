import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { continueIn } from "../../../src/interop/continue/continue-in.ts";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { assistant, user } from "../../support/messages.ts";
import { IS_WINDOWS } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ID, makeSession, NOW, openStoredMessages } from "./support/copied-sessions.ts";

/** Creates a home folder with program folders and a project, and a session of that project. */
function makeHome(...programs: readonly string[]) {
  const home = temporaryFolder();
  const cwd = join(home, "project");
  for (const name of ["project", ...programs]) mkdirSync(join(home, name), { recursive: true });
  const session = makeSession(user("Hi"), assistant("Hello"));
  return { home, cwd, session, options: { env: { HOME: home }, cwd, id: ID, now: NOW } };
}

/** Lists the files in a folder, recursively. */
function listFiles(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  return found.filter((one) => one.isFile()).map(({ name }) => name);
}

describe("the output", () => {
  test.each([
    ["codex", ".codex", `sessions/2026/11/28/rollout-2026-11-28T05-00-00-${ID}.jsonl`, ["resume", ID]],
    ["gemini", ".gemini", "tmp/project/chats/session-2026-11-28T05-00-aaaaaaaa.jsonl", ["--resume", ID]],
  ] as const)("for %s goes to its folder, private to its owner", (agent, folder, path, [word, id]) => {
    const { home, cwd, session, options } = makeHome(folder);
    const continuation = continueIn(agent, session, options);
    const file = join(home, folder, path);
    expect(continuation).toMatchObject({ id: ID, cwd, paths: [file], commands: [[agent, word, id]] });
    const [exported] = exportFor(agent, session, { ...options, project: "project" }).files;
    expect(readFileSync(file)).toEqual(Buffer.from(exported?.bytes ?? []));
    if (!IS_WINDOWS) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(listFiles(join(home, folder))).toHaveLength(1);
  });

  test("goes to the folder that a variable names", () => {
    const { home, session, options } = makeHome("codex", "claude");
    const [codex, claude] = [join(home, "codex"), join(home, "claude")];
    const env = { HOME: home, CODEX_HOME: codex, CLAUDE_CONFIG_DIR: ` ${claude} ,elsewhere` };
    expect(continueIn("codex", session, { ...options, env }).paths[0]).toContain(join(codex, "sessions"));
    expect(continueIn("claude-code", session, { ...options, env }).paths[0]).toContain(
      join(claude, "projects"),
    );
  });

  test("is only a list of file names in a dry run", () => {
    const { home, session, options } = makeHome(".codex");
    expect(continueIn("codex", session, { ...options, dryRun: true }).paths).toHaveLength(1);
    expect(listFiles(home)).toEqual([]);
  });

  test("for OpenCode goes to a separate folder, for import from there", () => {
    const { session, options } = makeHome();
    const { paths, commands } = continueIn("opencode", session, { ...options, dryRun: true });
    expect(dirname(paths[0] ?? "")).toMatch(/sessiontree-ses_\w+$/);
    expect(commands[0]).toEqual(["opencode", "import", paths[0]]);
  });

  test("is reported to lack files if the folder is not the session's", () => {
    const { session, options } = makeHome(".codex");
    const { issues } = continueIn("codex", session, options);
    const message = `The session ran in /project; files that it refers to may not exist in ${options.cwd}.`;
    expect(issues).toEqual([{ code: "FILES_NOT_THERE", index: -1, message }]);
  });
});

describe("nothing is written", () => {
  test("over a file", () => {
    const { session, options } = makeHome(".codex");
    const [path = ""] = continueIn("codex", session, { ...options, dryRun: true }).paths;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "theirs");
    expect(() => continueIn("codex", session, options)).toThrow(
      expect.objectContaining({ code: "SESSION_EXISTS" }),
    );
    expect(readFileSync(path, "utf8")).toBe("theirs");
  });

  test.each(["codex", "claude-code", "gemini"] as const)("for %s without its folder", (agent) => {
    const { home, session, options } = makeHome();
    const details = expect.objectContaining({ agent, path: expect.stringContaining(home) });
    expect(() => continueIn(agent, session, options)).toThrow(
      expect.objectContaining({ code: "PROGRAM_MISSING", details }),
    );
    expect(listFiles(home)).toEqual([]);
  });

  test("where the working directory is missing", () => {
    const { home, session, options } = makeHome(".codex");
    const cwd = join(home, "gone");
    expect(() => continueIn("codex", session, { ...options, cwd })).toThrow(
      expect.objectContaining({ code: "CWD_MISSING", details: { cwd } }),
    );
    expect(listFiles(home)).toEqual([]);
  });

  test("where the folder of sessions is a file", () => {
    const { home, session, options } = makeHome(".codex");
    writeFileSync(join(home, ".codex/sessions"), "a file");
    expect(() => continueIn("codex", session, options)).toThrow(
      expect.objectContaining({ name: "SessionError" }),
    );
    expect(listFiles(home)).toEqual(["sessions"]);
  });

  test.each([
    ["without entries", () => makeSession()],
    ["with instructions alone", () => makeSession({ role: "system", content: "Be brief.", timestamp: 1 })],
    ["whose messages no provider knows", () => openStoredMessages([{ role: "note", content: "x" }])],
    ["whose only answer was aborted", () => makeSession(assistant("I was", { stopReason: "aborted" }))],
  ])("of a session %s", (_title, make) => {
    const { home, options } = makeHome(".codex");
    expect(() => continueIn("codex", make(), options)).toThrow(
      expect.objectContaining({ code: "NOT_A_SESSION" }),
    );
    expect(listFiles(home)).toEqual([]);
  });
});

describe("exportFor refuses", () => {
  const session = makeSession(user("Hi"));

  test("a missing entry", () => {
    expect(() => exportFor("codex", session, { leafId: "gone" })).toThrow(
      expect.objectContaining({ code: "ENTRY_NOT_FOUND" }),
    );
  });

  test.each(["../../x", "", ID.toUpperCase(), `${ID}/x`])(
    "the id %j, which would be part of a path",
    (id) => {
      expect(() => exportFor("codex", session, { id })).toThrow(TypeError);
    },
  );

  test("unknown programs and options", () => {
    expect(() => Reflect.apply(exportFor, undefined, ["cursor", session])).toThrow(
      "A session cannot continue in cursor; choose one of claude-code, codex, gemini, opencode, pi.",
    );
    expect(() => Reflect.apply(exportFor, undefined, ["toString", session])).toThrow(
      "A session cannot continue in toString",
    );
    expect(() => Reflect.apply(exportFor, undefined, ["codex", session, { compacted: "all" }])).toThrow(
      'The option compacted must be "context" or "whole", but is "all".',
    );
  });
});
