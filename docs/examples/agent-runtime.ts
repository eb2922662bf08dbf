/**
 * A small agent that embeds the session commands: prompts, tool calls, automatic compaction, branching with a summary
 * of the abandoned branch, a fork, and resuming in another process.
 *
 *     npx tsx docs/examples/agent-runtime.ts
 *
 * It does not call a model: the model's answers are scripted below. All files are in a temporary folder.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type AssistantMessage,
  type CompactionSettings,
  convertToLlm,
  estimateTokens,
  isSessionError,
  type Message,
  SessionManager,
  type Summarize,
  type ToolCall,
  type ToolResultMessage,
} from "sessiontree";
import { SessionController } from "sessiontree/controller";

/** Size of the model's context window, in tokens; very small, so that a short conversation fills it. */
const CONTEXT_WINDOW = 1000;
const SETTINGS: CompactionSettings = { enabled: true, reserveTokens: 300, keepRecentTokens: 350 };

/** One answer of the model: its text and its tool calls. */
interface Answer {
  readonly text: string;
  readonly calls?: readonly { readonly name: string; readonly path: string; readonly text?: string }[];
}

/** The model's answers to each prompt, in order: the model is called again after every tool call. */
const SCRIPT: { readonly [prompt: string]: readonly Answer[] } = {
  "What is in the notes?": [
    { text: "I will read them.", calls: [{ name: "read", path: "notes.md" }] },
    {
      text: "Eight measurements of the north wall, in millimetres, and a remark that the third one is doubtful.",
    },
  ],
  "Write the mean into mean.md.": [
    { text: "First the numbers again.", calls: [{ name: "read", path: "notes.md" }] },
    { text: "Now the mean.", calls: [{ name: "write", path: "mean.md", text: "4021 mm" }] },
    { text: "The mean is 4021 mm; it is in mean.md." },
  ],
  "Is the log complete?": [
    { text: "I will look.", calls: [{ name: "read", path: "log.md" }] },
    { text: "The log has no entry for Tuesday." },
  ],
  "Guess the entry for Tuesday.": [{ text: "Rain, I suppose." }],
  "Do not guess: ask the site manager.": [{ text: "I have written a question for the site manager." }],
  "Use the median instead.": [
    { text: "The median it is.", calls: [{ name: "write", path: "mean.md", text: "4019 mm" }] },
    { text: "mean.md holds the median now, 4019 mm." },
  ],
  "Where were we?": [
    { text: "mean.md holds the median; the log lacks Tuesday, and the site manager has been asked." },
  ],
};

/** Files of the project that the agent works on, by path. */
const files = new Map([
  [
    "notes.md",
    `North wall, millimetres. ${"4018 4021 4530 4019 4020 4022 4017 4019. ".repeat(24)}The third is doubtful.`,
  ],
  ["log.md", `Monday: dry. ${"Nothing to report. ".repeat(60)}Wednesday: dry.`],
]);

/** Runs a tool call and returns its result. */
function runTool(call: ToolCall): ToolResultMessage {
  const path = String(call.arguments["path"]);
  const isWrite = call.name === "write";
  if (isWrite) files.set(path, String(call.arguments["text"]));
  const text = isWrite ? `wrote ${path}` : files.get(path);
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text: text ?? `${path} is not there` }],
    isError: text === undefined,
    timestamp: Date.now(),
  };
}

/** Returns a scripted answer, in place of a provider's response to a request. */
function askModel(request: readonly Message[], { text, calls = [] }: Answer): AssistantMessage {
  const input = request.reduce((sum, message) => sum + estimateTokens(message), 0);
  const toolCalls = calls.map(({ name, ...given }): ToolCall => {
    return { type: "toolCall", id: `call-${crypto.randomUUID()}`, name, arguments: given };
  });
  const reply: AssistantMessage = {
    role: "assistant",
    content: [{ type: "text", text }, ...toolCalls],
    api: "scripted",
    provider: "acme",
    model: "small-1",
    usage: {
      input,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: input,
      cost: { input: input / 1e6, output: 0, cacheRead: 0, cacheWrite: 0, total: input / 1e6 },
    },
    stopReason: toolCalls.length > 0 ? "toolUse" : "stop",
    timestamp: Date.now(),
  };
  return reply;
}

/** Returns a fixed summary, in place of a model. */
const summarize: Summarize = async ({ kind, prompt }) => ({
  text: `(${kind} of ${prompt.length} characters) The notes hold eight lengths; their mean, 4021 mm, is in mean.md.`,
});

/** Runs the agent's loop for a prompt: alternates answers and tools until the model stops calling tools. */
async function runPrompt(controller: SessionController, prompt: string): Promise<void> {
  const { session } = controller;
  say(`user       ${prompt}`);
  session.appendMessage({ role: "user", content: prompt, timestamp: Date.now() });
  for (const answer of SCRIPT[prompt] ?? []) {
    const result = await controller.compactIfNeeded({ contextWindow: CONTEXT_WINDOW });
    if (result.compacted) {
      say(`compacted  from ${result.tokensBefore} to about ${result.estimatedTokensAfter} tokens`);
    }
    const request = convertToLlm(session.buildSessionContext().messages, { repairToolPairs: true });
    const reply = askModel(request, answer);
    let leafId = session.appendMessage(reply);
    say(`assistant  ${answer.text}`);
    for (const block of reply.content) {
      if (block.type !== "toolCall") continue;
      const message = runTool(block);
      say(`tool       ${block.name} ${block.arguments["path"]}: ${firstWords(message)}`);
      // If the user has moved the leaf in the meantime, the result must not be appended there.
      leafId = session.append({ type: "message", message }, { expectedLeafId: leafId });
    }
  }
}

/** Creates the controller that both processes use, and logs its events. */
function makeController(session: SessionManager): SessionController {
  const controller = new SessionController({ session, summarize, settings: SETTINGS });
  controller.hooks.on("session_start", ({ reason }) => say(`event      session_start (${reason})`));
  controller.hooks.on("session_tree", ({ summaryEntry }) => {
    say(`event      session_tree${summaryEntry === undefined ? "" : " with a summary"}`);
  });
  controller.hooks.on("session_shutdown", ({ reason }) => say(`event      session_shutdown (${reason})`));
  return controller;
}

/** Runs the first process: works, returns to an earlier entry, forks, and hands over. */
async function work(folder: string): Promise<void> {
  await using controller = makeController(SessionManager.create(folder, join(folder, "sessions")));
  await controller.start();
  await controller.setName("North wall");

  title("Prompts, tools, and compaction when the window is full");
  await runPrompt(controller, "What is in the notes?");
  await runPrompt(controller, "Write the mean into mean.md.");
  await runPrompt(controller, "Is the log complete?");

  title("A wrong way, and back with a summary of it");
  const before = controller.session.getLeafId() ?? "";
  await runPrompt(controller, "Guess the entry for Tuesday.");
  const { summaryEntry } = await controller.navigateTree(before, { summarize: true, label: "guessed" });
  say(`summary    ${summaryEntry?.summary}`);
  await runPrompt(controller, "Do not guess: ask the site manager.");

  title("A fork, to try something else");
  await controller.clone();
  await runPrompt(controller, "Use the median instead.");
  showStats(controller);

  title("Another process continues");
  const file = controller.session.getSessionFile() ?? "";
  await controller.session.flush();
  const argv = [...process.execArgv, fileURLToPath(import.meta.url), "--resume", file];
  const { status } = spawnSync(process.execPath, argv, { stdio: "inherit" });
  if (status !== 0) throw new Error(`the other process ended with ${status}`);
  const added = controller.session.refresh();
  say(`back here  the other process appended ${added.length} entries to the fork`);
}

/** Runs the second process, which continues the session where the first one stopped. */
async function resume(file: string): Promise<void> {
  await using controller = makeController(SessionManager.open(file));
  await controller.start();
  say(`resumed    "${controller.session.getSessionName()}", ${controller.session.getEntryCount()} entries`);
  await runPrompt(controller, "Where were we?");
}

function showStats(controller: SessionController): void {
  const { usage, inherited, messages, toolCalls, context } = controller.getStats({
    contextWindow: CONTEXT_WINDOW,
  });
  say(
    `stats      this fork: ${messages.total} messages, ${toolCalls.total} tool call, ${usage.totalTokens} tokens`,
  );
  say(`           from its parent: ${inherited.entries} entries, ${inherited.usage.totalTokens} tokens`);
  say(`           context: ${Math.round(context.percent ?? 0)} % of the window`);
}

function title(text: string): void {
  console.log(`\n${text}`);
}

function say(text: string): void {
  console.log(`  ${text.length > 110 ? `${text.slice(0, 109)}…` : text}`);
}

function firstWords({ content }: ToolResultMessage): string {
  const [block] = content;
  return block?.type === "text" ? block.text.slice(0, 40) : "";
}

async function main(): Promise<void> {
  const [flag, file] = process.argv.slice(2);
  if (flag === "--resume" && file !== undefined) return resume(file);
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-agent-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

try {
  await main();
} catch (error) {
  console.error(isSessionError(error) ? `${error.code}: ${error.message}` : error);
  process.exitCode = 1;
}
