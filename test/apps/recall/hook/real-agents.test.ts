import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { MAX_PUSHED_BYTES } from "../../../../src/apps/recall/hook/hook-answer.ts";
import { toRecord } from "../../../../src/core/context/entry-fields.ts";
import { readFences } from "../../../contract/support/markdown.ts";
import { readText } from "../../../contract/support/repository.ts";
import { PROGRAM } from "../../../support/program.ts";
import { type ModelAnswer, ModelServer } from "../support/model-server.ts";
import { project } from "../support/past.ts";

/** Folder with the real agents. */
const AGENTS = process.env["SESSIONTREE_AGENTS"] ?? "";
const find = (path: string) => join(AGENTS, "node_modules", path);
const CLAUDE = find("@anthropic-ai/claude-code-linux-x64/claude");
const CODEX = find("@openai/codex/bin/codex.js");

/** Why they cannot be run here; undefined if they can. */
const WHY_NOT =
  AGENTS !== "" && [CLAUDE, CODEX].every((path) => existsSync(path))
    ? undefined
    : "needs the real agents: npm install --prefix FOLDER @anthropic-ai/claude-code@2.1.332 @openai/codex@0.171.0, and SESSIONTREE_AGENTS=FOLDER";

/** Returns the settings that docs/recall.md has for an agent, with our program, which also notes what it writes. */
function readSettings(heading: string, log: string): string {
  const [, pushed = ""] = readText("docs/recall.md").split("## Push it");
  const [block] = readFences(pushed.slice(pushed.indexOf(`**${heading}**`)));
  const command = `'${process.execPath}' '${PROGRAM}' recall --hook | tee -a '${log}'`;
  return (block?.code ?? "").replaceAll('"sessiontree recall --hook"', () => JSON.stringify(command));
}

interface Agent {
  readonly heading: string;
  /** Where its settings are, below its home. */
  readonly settings: string;
  readonly script: (folder: string) => readonly ModelAnswer[];
  readonly run: (home: string, origin: string) => { readonly args: readonly string[]; readonly env: object };
}

const TEST = "npm test -- totals";

const AGENT_RUNS: readonly (readonly [name: string, agent: Agent])[] = [
  [
    "Claude Code",
    {
      heading: "Claude Code",
      settings: ".claude/settings.json",
      script: (folder) => [
        { name: "Bash", input: { command: TEST, description: "Run the tests" } },
        { name: "Read", input: { file_path: join(folder, "src/totals.ts") } },
        {
          name: "Edit",
          input: { file_path: join(folder, "src/totals.ts"), old_string: "floor", new_string: "round" },
        },
        { text: "Fixed." },
      ],
      run: (_home, origin) => ({
        args: [CLAUDE, "-p", "Fix the totals", "--dangerously-skip-permissions"],
        env: {
          ANTHROPIC_BASE_URL: origin,
          ANTHROPIC_API_KEY: "none",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          IS_SANDBOX: "1",
        },
      }),
    },
  ],
  [
    "Codex",
    {
      heading: "Codex",
      settings: "hooks.json",
      script: () => [
        { name: "exec_command", input: { cmd: TEST } },
        {
          name: "apply_patch",
          input: "*** Begin Patch\n*** Update File: src/totals.ts\n@@\n-floor\n+round\n*** End Patch",
        },
        { text: "Fixed." },
      ],
      run: (home, origin) => {
        const provider = `{ name = "test", base_url = "${origin}/v1", wire_api = "responses" }`;
        const config = `model = "gpt-5.5"\nmodel_provider = "test"\nmodel_providers.test = ${provider}\n`;
        writeFileSync(join(home, "config.toml"), config);
        return {
          args: [
            ...[process.execPath, CODEX, "exec", "--skip-git-repo-check"],
            ...["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"],
            "Fix the totals",
          ],
          env: { CODEX_HOME: home },
        };
      },
    },
  ],
];

/** Returns every string in a JSON value. */
function collectStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(collectStrings) : [];
}

/** Makes the project in which the tests failed before, and in which they fail again. */
function makeFailingProject() {
  const past = project();
  mkdirSync(join(past.folder, "src"));
  writeFileSync(join(past.folder, "src/totals.ts"), "floor\n");
  const script = "console.error('RangeError: expected 2997, got 2996.9999'); process.exitCode = 1";
  writeFileSync(join(past.folder, "fail.cjs"), script);
  writeFileSync(join(past.folder, "package.json"), JSON.stringify({ scripts: { test: "node fail.cjs" } }));
  return past;
}

describe.skipIf(WHY_NOT !== undefined)(`real agents${WHY_NOT ? ` (${WHY_NOT})` : ""}`, () => {
  test.each(AGENT_RUNS)("%s sends to its model what the hook writes", async (_name, agent) => {
    const { folder, sessions } = makeFailingProject();
    const home = join(folder, "home");
    const log = join(folder, "pushed.jsonl");
    mkdirSync(join(home, agent.settings, ".."), { recursive: true });
    writeFileSync(join(home, agent.settings), readSettings(agent.heading, log));
    await using server = await ModelServer.start(agent.script(folder));
    const { args, env } = agent.run(home, server.origin);
    const [file = "", ...rest] = args;
    const running = promisify(execFile)(file, rest, {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        XDG_CACHE_HOME: join(folder, "cache"),
        PI_CODING_AGENT_SESSION_DIR: sessions,
        // A machine that runs tests may be slow.
        SESSIONTREE_HOOK_MS: "4500",
        ...env,
      },
    });
    running.child.stdin?.end();
    await running;

    const pushed = readFileSync(log, "utf8").trim().split("\n");
    const outputs = pushed.map((line) => toRecord(toRecord(JSON.parse(line))["hookSpecificOutput"]));
    const texts = outputs.map(({ additionalContext }) => String(additionalContext));
    const [start, failure, edit] = texts;
    expect(texts).toHaveLength(3);
    expect(start).toContain("answered: Fixed: round each line of the receipt.");
    expect(failure).toMatch(/worked.*: → bash npm test -- all/);
    expect(edit).toContain("changed with edit src/totals.ts");
    for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_PUSHED_BYTES);

    const sent = server.requests.map((request) => collectStrings(request));
    const arrivedBy = (text: string) =>
      sent.findIndex((strings) => strings.some((one) => one.includes(text)));
    const editAt = server.requests.length - 1;
    expect(texts.map(arrivedBy)).toEqual([0, 1, editAt]);
  });
});
