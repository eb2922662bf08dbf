import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AssistantMessage } from "../../../../src/core/format/message.ts";
import { SessionManager } from "../../../../src/session/manager/session-manager.ts";

const START_MS = Date.parse("2026-02-03T22:00:00.000Z");
/** Time between two entries, in milliseconds. */
export const STEP_MS = 60_000;

const USAGE = {
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 15,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** Writes a session with a minute between its entries. */
export class Scribe {
  readonly session: SessionManager;
  readonly path: string;
  #timeMs: number;

  /** @param folder - Folder of its file. */
  constructor(
    folder: string,
    id = "0198aaaa-0000-7000-8000-000000000001",
    cwd = folder,
    parentSession?: string,
    startMs = START_MS,
  ) {
    this.#timeMs = startMs;
    const now = () => {
      this.#timeMs += STEP_MS;
      return this.#timeMs;
    };
    this.session = SessionManager.create(
      cwd,
      { sessionDir: folder, now },
      { id, ...(parentSession && { parentSession }) },
    );
    this.path = this.session.getSessionFile() ?? "";
  }

  user(text: string): string {
    return this.session.appendMessage({ role: "user", content: text, timestamp: this.#timeMs });
  }

  assistant(text: string, fields: Partial<AssistantMessage> = {}): string {
    return this.session.appendMessage({
      role: "assistant",
      content: [{ type: "text", text }],
      api: "messages",
      provider: "anthropic",
      model: "claude",
      usage: USAGE,
      stopReason: "stop",
      timestamp: this.#timeMs,
      ...fields,
    });
  }

  call(name: string, given: Record<string, unknown>, id = "call-1"): string {
    return this.assistant("", {
      content: [{ type: "toolCall", id, name, arguments: given }],
      stopReason: "toolUse",
    });
  }

  result(text: string, isError = false, toolCallId = "call-1", toolName = "bash"): string {
    return this.session.appendMessage({
      role: "toolResult",
      toolCallId,
      toolName,
      content: [{ type: "text", text }],
      isError,
      timestamp: this.#timeMs,
    });
  }

  /** Appends a number of a tool's turns: two entries each. */
  work(turns: number): void {
    for (let i = 0; i < turns; i++) {
      this.call("bash", { command: "npm test" }, `call-${i}`);
      this.result("all passed", false, `call-${i}`);
    }
  }
}

/** Writes a file of a header and lines; values other than strings are written as JSON. */
export function writeLines(folder: string, name: string, lines: readonly unknown[]): string {
  const path = join(folder, name);
  const header = {
    type: "session",
    version: 3,
    id: name,
    timestamp: "2026-02-03T22:00:00.000Z",
    cwd: folder,
  };
  const texts = [header, ...lines].map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  writeFileSync(path, `${texts.join("\n")}\n`);
  return path;
}

/** Creates an entry of a user message. */
export function userLine(id: string, parentId: string | null, text = `entry ${id}`): object {
  const message = { role: "user", content: text, timestamp: START_MS };
  return { type: "message", id, parentId, timestamp: "2026-02-03T22:01:00.000Z", message };
}

/** Returns the ID of the entry with a number. */
export function makeId(number: number): string {
  return (number + 1).toString(16).padStart(8, "0");
}
