import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelAnswer } from "./model-server.ts";

/** A real agent: its program, its settings, its model's answers, and the connection to its model. */
export interface RealAgent {
  /** Its name in docs/recall.md. */
  readonly name: string;
  /** With the tested version. */
  readonly npmPackage: string;
  /** Its program, below the folder of packages. */
  readonly program: string;
  /** Its settings with hooks, below its home. */
  readonly settings: string;
  /** Runs the tests, which fail, and edits a file; the last answer ends the session. */
  readonly script: (file: string) => readonly ModelAnswer[];
  /** Returns arguments and variables; writes the agent's other files into its home. */
  readonly prepare: (
    home: string,
    origin: string,
  ) => { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };
}

const PROMPT = "Fix the totals";
const TEST = "npm test -- totals";
const END: ModelAnswer = { text: "Fixed." };
const PATCH = "*** Begin Patch\n*** Update File: src/totals.ts\n@@\n-floor\n+round\n*** End Patch";
const EDIT = { old_string: "floor", new_string: "round" };

const CLAUDE_CODE: RealAgent = {
  name: "Claude Code",
  npmPackage: "@anthropic-ai/claude-code@2.1.332",
  program: "@anthropic-ai/claude-code-linux-x64/claude",
  settings: ".claude/settings.json",
  script: (file_path) => [
    { name: "Bash", input: { command: TEST, description: "Run the tests" } },
    { name: "Read", input: { file_path } },
    { name: "Edit", input: { file_path, ...EDIT } },
    END,
  ],
  prepare: (_home, origin) => ({
    args: ["-p", PROMPT, "--dangerously-skip-permissions"],
    env: {
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      IS_SANDBOX: "1",
    },
  }),
};

const CODEX: RealAgent = {
  name: "Codex",
  npmPackage: "@openai/codex@0.171.0",
  program: "@openai/codex/bin/codex.js",
  settings: ".codex/hooks.json",
  script: () => [{ name: "exec_command", input: { cmd: TEST } }, { name: "apply_patch", input: PATCH }, END],
  prepare: (home, origin) => {
    const provider = `{ name = "test", base_url = "${origin}/v1", wire_api = "responses" }`;
    const config = `model = "gpt-5.5"\nmodel_provider = "test"\nmodel_providers.test = ${provider}\n`;
    writeFileSync(join(home, ".codex/config.toml"), config);
    return {
      args: [
        ...["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
        "--dangerously-bypass-hook-trust",
        PROMPT,
      ],
      env: {},
    };
  },
};

const GEMINI_SETTINGS = ".gemini/settings.json";

const GEMINI_CLI: RealAgent = {
  name: "Gemini CLI",
  npmPackage: "@google/gemini-cli@0.61.0",
  program: "@google/gemini-cli/bundle/gemini.js",
  settings: GEMINI_SETTINGS,
  script: (file_path) => [
    { name: "run_shell_command", input: { command: TEST } },
    { name: "read_file", input: { file_path } },
    { name: "replace", input: { file_path, ...EDIT, instruction: "Round" } },
    END,
  ],
  prepare: (home, origin) => {
    const settings = join(home, GEMINI_SETTINGS);
    const security = { auth: { selectedType: "gemini-api-key" } };
    const hooks = Object(JSON.parse(readFileSync(settings, "utf8")));
    writeFileSync(settings, JSON.stringify({ ...hooks, security }));
    return {
      args: ["-y", "--skip-trust", "-p", PROMPT],
      env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: origin },
    };
  },
};

const QWEN_CODE: RealAgent = {
  name: "Qwen Code",
  npmPackage: "@qwen-code/qwen-code@0.24.4",
  program: "@qwen-code/qwen-code/cli.js",
  settings: ".qwen/settings.json",
  script: (file_path) => [
    { name: "run_shell_command", input: { command: TEST, is_background: false } },
    { name: "read_file", input: { file_path } },
    { name: "edit", input: { file_path, ...EDIT } },
    END,
  ],
  prepare: (_home, origin) => ({
    args: ["-y", "--auth-type", "openai", "-p", PROMPT],
    env: { OPENAI_API_KEY: "none", OPENAI_MODEL: "test", OPENAI_BASE_URL: `${origin}/v1` },
  }),
};

/** The agents that `recall --hook` serves. */
export const REAL_AGENTS: readonly RealAgent[] = [CLAUDE_CODE, CODEX, GEMINI_CLI, QWEN_CODE];
