/**
 * Measures importing: 1 GB of transcripts in 1,000 files of Claude Code and Codex, and a second run without changes.
 *
 * Usage: npx tsup --silent && npx tsx test/bench/import.ts [--files N] [--data FOLDER]
 * Prints JSON: seconds of wall time and of both cores, and the process's peak memory.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { seededRandom } from "./data.ts";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "1000" },
    data: { type: "string", default: join(tmpdir(), "sessiontree-bench-data", "transcripts") },
  },
});
const FILES = Number(values.files);
const FILE_BYTES = 1_000_000;

const random = seededRandom(15);
const WORDS =
  "the agent reads a file and finds that the test fails because of a wrong path in its config".split(" ");

function text(bytes: number): string {
  let made = "";
  while (made.length < bytes) made += `${WORDS[Math.floor(random() * WORDS.length)]} `;
  return made;
}

function id(): string {
  const hex = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  const [a, b, c, d] = [hex(), hex(), hex(), hex()];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`;
}

const time = (n: number) => new Date(Date.UTC(2026, 10, 22) + n * 1000).toISOString();

/** Returns a transcript of Claude Code: turns of a prompt, a thought, two parallel calls and their results, and an answer. */
function claudeTranscript(sessionId: string): string {
  const lines: string[] = [];
  let parentUuid: string | null = null;
  let size = 0;
  const add = (type: string, fields: object): string => {
    const uuid = id();
    const envelope = {
      cwd: "/code/project",
      sessionId,
      version: "2.1.330",
      gitBranch: "main",
      userType: "external",
    };
    const line = JSON.stringify({
      parentUuid,
      isSidechain: false,
      type,
      uuid,
      timestamp: time(lines.length),
      ...envelope,
      ...fields,
    });
    lines.push(line);
    size += line.length + 1;
    parentUuid = uuid;
    return uuid;
  };
  for (let turn = 0; size < FILE_BYTES; turn++) {
    add("user", { message: { role: "user", content: text(300) } });
    add("attachment", { attachment: { type: "reminder", text: text(100) } });
    const part = (block: object, message: string) => {
      const usage = {
        input_tokens: 10,
        output_tokens: 100,
        cache_read_input_tokens: 5000,
        cache_creation_input_tokens: 100,
      };
      return add("assistant", {
        requestId: `req_${message}`,
        message: {
          id: message,
          role: "assistant",
          model: "m",
          content: [block],
          stop_reason: "tool_use",
          usage,
        },
      });
    };
    const message = `msg_${turn}`;
    part({ type: "thinking", thinking: text(800), signature: "c2ln".repeat(100) }, message);
    const calls = [0, 1].map((n) =>
      part({ type: "tool_use", id: `t${turn}_${n}`, name: "Read", input: { path: text(60) } }, message),
    );
    for (const [n, call] of calls.entries()) {
      parentUuid = call;
      const out = text(3000);
      add("user", {
        message: {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: `t${turn}_${n}`, content: out }],
        },
        toolUseResult: { file: { content: out } },
      });
    }
    part({ type: "text", text: text(600) }, `msg_${turn}_end`);
  }
  return `${lines.join("\n")}\n`;
}

/** Returns a thread of Codex, paginated as newer versions write it. */
function codexRollout(threadId: string): string {
  const lines: string[] = [];
  let size = 0;
  const add = (type: string, payload: object) => {
    const line = JSON.stringify({ timestamp: time(lines.length), ordinal: lines.length, type, payload });
    lines.push(line);
    size += line.length + 1;
  };
  add("session_meta", {
    id: threadId,
    timestamp: time(0),
    cwd: "/code/project",
    cli_version: "0.169.0",
    history_mode: "paginated",
  });
  for (let turn = 0; size < FILE_BYTES; turn++) {
    const item = (type: string, fields: object) => add("response_item", { type, ...fields });
    add("event_msg", { type: "task_started", turn_id: id() });
    add("turn_context", { cwd: "/code/project", model: "m", effort: "high" });
    const prompt = text(300);
    item("message", { id: `u${turn}`, role: "user", content: [{ type: "input_text", text: prompt }] });
    add("event_msg", {
      type: "item_completed",
      item: { type: "UserMessage", content: [{ type: "text", text: prompt }] },
    });
    item("reasoning", {
      id: `rs${turn}`,
      summary: [{ type: "summary_text", text: text(300) }],
      encrypted_content: "c2ln".repeat(300),
    });
    for (const n of [0, 1])
      item("function_call", {
        id: `fc${turn}${n}`,
        name: "exec_command",
        arguments: JSON.stringify({ cmd: text(60) }),
        call_id: `c${turn}_${n}`,
      });
    const usage = { input_tokens: 5000, cached_input_tokens: 4000, output_tokens: 100, total_tokens: 5100 };
    add("token_usage_record", { response_id: `resp${turn}`, usage });
    for (const n of [0, 1]) {
      const out = text(3000);
      add("event_msg", {
        type: "item_completed",
        item: { type: "CommandExecution", id: `c${turn}_${n}`, exit_code: 0, aggregated_output: out },
      });
      item("function_call_output", { id: `fo${turn}${n}`, call_id: `c${turn}_${n}`, output: out });
    }
    item("message", {
      id: `m${turn}`,
      role: "assistant",
      content: [{ type: "output_text", text: text(600) }],
    });
    add("token_usage_record", { response_id: `resp${turn}b`, usage });
  }
  return `${lines.join("\n")}\n`;
}

const home = join(values.data, `home-${FILES}`);
if (!existsSync(home)) {
  for (let i = 0; i < FILES; i++) {
    const session = id();
    const path =
      i % 2 === 0
        ? join(home, ".claude/projects", `-work-p${i % 20}`, `${session}.jsonl`)
        : join(home, ".codex/sessions/2026/11/22", `rollout-2026-11-22T00-00-00-${session}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, i % 2 === 0 ? claudeTranscript(session) : codexRollout(session));
  }
}

const target = join(values.data, "target");
rmSync(target, { recursive: true, force: true });
const bin = new URL("../../dist/bin.js", import.meta.url).pathname;
const measure = `
  process.on("exit", () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    console.error(JSON.stringify({ wallS: performance.now() / 1e3, userS: userCPUTime / 1e6, systemS: systemCPUTime / 1e6, maxMB: maxRSS / 1024 }));
  });
  process.argv.splice(1, 0, ${JSON.stringify(bin)});
  await import(${JSON.stringify(bin)});`;

for (const name of ["first", "second"]) {
  const found = execFileSync(
    process.execPath,
    ["--input-type=module", "-e", measure, "--", "import", "--all"],
    {
      env: {
        ...process.env,
        HOME: home,
        PI_CODING_AGENT_DIR: target,
        XDG_CACHE_HOME: join(target, "cache"),
        XDG_DATA_HOME: join(target, "data"),
        CLAUDE_CONFIG_DIR: "",
        CODEX_HOME: "",
      },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  console.log(name, found.trim().replaceAll("\n", "; "));
}
