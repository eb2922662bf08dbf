import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AssistantMessage, SessionManager, ToolResultMessage, UserMessage } from "sessiontree";
import { afterEach } from "vitest";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Makes a folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-manager-"));
  folders.push(folder);
  return folder;
}

export function user(content: string, timestamp = 1): UserMessage {
  return { role: "user", content, timestamp };
}

export function assistant(text: string, model = "m1"): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost };
  const content = [{ type: "text" as const, text }];
  return {
    role: "assistant",
    content,
    api: "a",
    provider: "p",
    model,
    usage,
    stopReason: "stop",
    timestamp: 2,
  };
}

export function toolResult(toolCallId: string, text: string): ToolResultMessage {
  const content = [{ type: "text" as const, text }];
  return { role: "toolResult", toolCallId, toolName: "read", content, isError: false, timestamp: 3 };
}

/** The records of a session's file. */
export function records(session: SessionManager): Record<string, unknown>[] {
  const text = readFileSync(session.getSessionFile() ?? "", "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
