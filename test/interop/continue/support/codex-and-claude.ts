import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RealProgram } from "./real-program.ts";
import { readAnthropicRequest, readResponsesRequest } from "./said.ts";

export const REAL_CODEX: RealProgram = {
  agent: "codex",
  npmPackage: "@openai/codex@0.171.0",
  program: "@openai/codex/bin/codex.js",
  folder: ".codex",
  prepare: (home, origin) => {
    const provider = `{ name = "test", base_url = "${origin}/v1", wire_api = "responses" }`;
    const config = `model = "gpt-5.5"\nmodel_provider = "test"\nmodel_providers.test = ${provider}\n`;
    writeFileSync(join(home, ".codex/config.toml"), config);
    return {};
  },
  continueWith: ({ id }, prompt) => [
    ...["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
    ...["resume", id, prompt],
  ],
  readRequest: readResponsesRequest,
};

export const REAL_CLAUDE_CODE: RealProgram = {
  agent: "claude-code",
  npmPackage: "@anthropic-ai/claude-code@2.1.332",
  program: "@anthropic-ai/claude-code-linux-x64/claude",
  folder: ".claude",
  prepare: (_home, origin) => ({
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    IS_SANDBOX: "1",
  }),
  continueWith: ({ id }, prompt) => ["--resume", id, "-p", prompt, "--dangerously-skip-permissions"],
  readRequest: readAnthropicRequest,
};
