import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { exportFor } from "../../../../src/interop/continue/export-for.ts";
import type { SessionImport } from "../../../../src/interop/history/import-sessions.ts";
import type { ReadonlySessionManager } from "../../../../src/session/manager/session-manager.ts";
import { SessionManager } from "../../../../src/session/manager/session-manager.ts";
import { assistant, call, toolResult, usage, user } from "../../../support/messages.ts";
import { joinLines, uuid } from "../../import/support/claude-records.ts";
import { answer, prompt, text } from "../../import/support/opencode-records.ts";
import type { Places } from "./places.ts";

/** Programs whose files an import finds by itself or is given. */
export const PROGRAMS = ["claude-code", "codex", "gemini", "opencode"] as const;
export type Program = (typeof PROGRAMS)[number];

/** Folders of the programs, below the home folder. */
const HOMES = { "claude-code": ".claude", codex: ".codex", gemini: ".gemini", opencode: "documents" };

export const CWD = "/code/project";

/** Time at which sessions are exported. */
const EXPORTED_MS = Date.UTC(2026, 10, 23, 12);

/** Creates a session of ours with two turns and two counted calls; returns its path. */
export async function makeOriginal(places: Places): Promise<string> {
  const session = SessionManager.create(CWD, places.sessions);
  const minute = (at: number) => Date.UTC(2026, 10, 22, 5, at);
  session.appendMessage(user("Where is the leak?", minute(0)));
  session.appendMessage(
    assistant(
      "I look.",
      { usage: usage(100), timestamp: minute(1) },
      call("call_1|fc_9", "bash", { cmd: "ls" }),
    ),
  );
  session.appendMessage({ ...toolResult("call_1|fc_9", "a tap"), timestamp: minute(2) });
  session.appendMessage(assistant("It is the tap.", { usage: usage(200), timestamp: minute(3) }));
  const path = session.getSessionFile() ?? "";
  await session.close();
  return path;
}

/** Number of turns added so far: later ones have later times. */
let turns = 0;

/** A session in a program, with operations to continue it there. */
export class Continuation {
  readonly id: string;
  readonly path: string;
  readonly #program: Program;

  constructor(program: Program, id: string, path: string) {
    this.#program = program;
    this.id = id;
    this.path = path;
  }

  /** Adds a turn as the program does: a prompt, and an answer that used 50 tokens. */
  addTurn(said: string): void {
    turns++;
    const name = `turn ${turns}`;
    const at = new Date(EXPORTED_MS + turns * 60_000).toISOString();
    switch (this.#program) {
      case "claude-code":
        this.append(makeClaudeTurn(said, name, this.id, at, this.#findLastUuid()));
        break;
      case "codex":
        this.append(makeCodexTurn(said, at));
        break;
      case "gemini":
        this.append(makeGeminiTurn(said, name, at));
        break;
      case "opencode":
        this.#addToDocument(said, turns);
    }
  }

  append(records: readonly object[]): void {
    appendFileSync(this.path, joinLines(records));
  }

  #findLastUuid(): unknown {
    const records = readFileSync(this.path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    return records.findLast((one) => typeof one.uuid === "string")?.uuid ?? null;
  }

  #addToDocument(said: string, turn: number): void {
    const document = JSON.parse(readFileSync(this.path, "utf8"));
    // Seconds since these records begin, which is the day before the export.
    const second = (31 * 60 + turn) * 60;
    document.messages.push(
      prompt(`msg_z${turn}a`, second, said),
      answer(`msg_z${turn}b`, second + 1, [text(`done: ${said}`)], {
        cost: 0,
        tokens: { total: 50, input: 40, output: 10, reasoning: 0, cache: { read: 0, write: 0 } },
      }),
    );
    writeFileSync(this.path, JSON.stringify(document));
  }
}

function makeClaudeTurn(
  said: string,
  name: string,
  sessionId: string,
  timestamp: string,
  parentUuid: unknown,
): object[] {
  const common = { isSidechain: false, sessionId, timestamp, cwd: CWD, version: "2.1.330" };
  const [asked, answered] = [uuid(`${name} q`.slice(-8)), uuid(`${name} a`.slice(-8))];
  const message = {
    id: `msg_${name}`,
    role: "assistant",
    model: "claude-x",
    content: [{ type: "text", text: `done: ${said}` }],
    stop_reason: "end_turn",
    usage: { input_tokens: 40, output_tokens: 10 },
  };
  return [
    { ...common, type: "user", uuid: asked, parentUuid, message: { role: "user", content: said } },
    { ...common, type: "assistant", uuid: answered, parentUuid: asked, message },
  ];
}

function makeCodexTurn(said: string, timestamp: string): object[] {
  const item = (role: string, type: string, text: string) => ({
    timestamp,
    type: "response_item",
    payload: { type: "message", role, content: [{ type, text }] },
  });
  const event = (type: string, fields: object = {}) => ({
    timestamp,
    type: "event_msg",
    payload: { type, ...fields },
  });
  const used = { input_tokens: 40, output_tokens: 10, total_tokens: 50 };
  return [
    event("task_started"),
    { timestamp, type: "turn_context", payload: { cwd: CWD, model: "gpt-x" } },
    item("user", "input_text", said),
    event("user_message", { message: said }),
    item("assistant", "output_text", `done: ${said}`),
    { timestamp, type: "token_usage_record", payload: { usage: used } },
  ];
}

function makeGeminiTurn(said: string, name: string, timestamp: string): object[] {
  const tokens = { input: 40, output: 10, cached: 0, thoughts: 0, tool: 0, total: 50 };
  return [
    { id: `${name} q`, timestamp, type: "user", content: [{ text: said }] },
    {
      id: `${name} a`,
      timestamp,
      type: "gemini",
      content: `done: ${said}`,
      thoughts: [],
      tokens,
      model: "gemini-x",
    },
  ];
}

let exports = 0;

/** Exports a session to a program whose folder is in the home folder. */
export function exportTo(
  places: Places,
  program: Program,
  session: ReadonlySessionManager,
  more: Partial<Parameters<typeof exportFor>[2]> = {},
): Continuation {
  exports++;
  const id = `0199d8e6-0000-4000-8000-${String(exports).padStart(12, "0")}`;
  const written = exportFor(program, session, { cwd: CWD, now: EXPORTED_MS, id, ...more });
  const [file] = written.files;
  if (file === undefined) throw new Error("The export has no file.");
  const path = places.put(`${HOMES[program]}/${file.path}`, file.bytes);
  return new Continuation(program, written.id, path);
}

/** Exports the session at a path. */
export function exportFrom(places: Places, program: Program, path: string): Continuation {
  return exportTo(places, program, SessionManager.open(path, { mode: "read-only" }));
}

/** Imports everything, including documents that are only imported by name. */
export function importAll(
  places: Places,
  more: Parameters<Places["import"]>[0] = {},
): Promise<SessionImport[]> {
  const folders = [".claude/projects", ".codex/sessions", ".gemini/tmp", "documents"];
  return places.import({ paths: folders.map((folder) => `${places.home}/${folder}`), ...more });
}
