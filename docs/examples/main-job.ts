/**
 * The main tasks of sessiontree, in one run: open a session, upgrade it, continue it as an agent would, branch, compact,
 * and read everything back after reopening the file.
 *
 *     npm start                          a session file of version 1 from the repository
 *     npm start -- path/to/file.jsonl    any other session file
 *
 * It works on a copy in a temporary folder. It does not call a model: the messages of the agent and its model are
 * scripted below.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import {
  type AssistantMessage,
  compactWithoutModel,
  convertToLlm,
  DEFAULT_COMPACTION_SETTINGS,
  isSessionError,
  type Message,
  prepareCompaction,
  type SessionContext,
  SessionManager,
  type ToolCall,
} from "sessiontree";
import { run as runCommandLine } from "../../src/apps/cli/run.ts";

const BUNDLED_SESSION = fileURLToPath(new URL("../../fixtures/v1/fix-the-totals.jsonl", import.meta.url));

const MAX_ISSUES = 5;

/** Positions in the tree that the program returns to; null is the position before the first entry. */
interface Places {
  /** Leaf when the session was opened. */
  readonly start: string | null;
  /** Last entry of the abandoned branch. */
  readonly left: string;
  /** Last entry of the continued branch. */
  readonly ahead: string;
}

/** Runs all steps; returns false if anything differs after reopening. */
async function mainJob(file: string): Promise<boolean> {
  // Read-only: nothing is written, even if the file has issues. If the file is not a session, this throws an error with the reason.
  const original = SessionManager.open(file, { mode: "read-only" });
  const path = original.getSessionFile() ?? file;
  const bytes = readFileSync(path);
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-"));
  try {
    const copy = join(folder, basename(path));
    copyFileSync(path, copy);

    await openAndLook(original, copy);
    await using session = SessionManager.open(copy);
    upgrade(session);
    const places = continueAsAgent(session);
    await drawTree(copy);
    showContexts(session, places);
    const isEqual = await reopenAndCompare(session, places, original);
    return report("the file that was given is as it was", readFileSync(path).equals(bytes)) && isEqual;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function openAndLook(session: SessionManager, copy: string): Promise<void> {
  step(1, "Open");
  const { issues } = session;
  const file = relative(process.cwd(), session.getSessionFile() ?? "");
  const count = issues.length === 1 ? "1 issue" : `${issues.length} issues`;
  say(`${file}: ${count}`);
  // A damaged session still opens: each issue is reported with its line, and all other entries are read.
  for (const { line, message } of issues.slice(0, MAX_ISSUES)) say(`  line ${line}: ${message}`);
  if (issues.length > MAX_ISSUES) say("  …");
  await drawTree(copy);
}

function upgrade(session: SessionManager): void {
  step(2, "Upgrade");
  // The first append would also upgrade the file. The old bytes are kept in a backup next to the file.
  const backup = session.upgrade();
  say(
    backup === undefined
      ? "The file is as version 3 writes it."
      : `Upgraded; the old bytes are in ${basename(backup)}.`,
  );
}

/** Appends the entries of an agent's turn, then a second branch. Each append is on disk when it returns. */
function continueAsAgent(session: SessionManager): Places {
  step(3, "Continue as an agent would");
  const start = session.getLeafId();

  // The user asks, the model calls a tool, the tool answers, the model answers.
  const question = session.appendMessage({
    role: "user",
    content: "How long is this conversation?",
    timestamp: Date.now(),
  });
  const call: ToolCall = { type: "toolCall", id: "call_count", name: "count_messages", arguments: {} };
  session.appendMessage(assistant("I will count.", call));
  const { messages } = session.buildSessionContext();
  session.appendMessage({
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text: String(messages.length) }],
    isError: false,
    timestamp: Date.now(),
  });
  const answer = session.appendMessage(assistant(`There are ${messages.length} messages so far.`));
  // A label is a bookmark: an entry in the tree like any other, but not sent to the model.
  session.appendLabelChange(answer, "counted");
  const left = session.getLeafId() ?? answer;
  say("A question, a tool call, its result, an answer, and a label on it.");

  // Branching moves the leaf and appends lines; earlier entries are unchanged.
  session.branchWithSummary(question, `The messages were counted: ${messages.length}.`);
  const again = "Never mind the number. Could someone else take over from here?";
  session.appendMessage({ role: "user", content: again, timestamp: Date.now() });
  session.appendMessage(assistant("Yes: I put what matters into a summary for them."));
  say("Back to the question, a summary of the branch that was left, and on.");

  // Twenty tokens keep the last question and its answer; earlier entries are summarized.
  const settings = { ...DEFAULT_COMPACTION_SETTINGS, keepRecentTokens: 20 };
  const preparation = prepareCompaction(session.getBranch(), settings);
  if (preparation !== undefined) {
    // An agent would pass `compact` a function that calls its model.
    const { summary, firstKeptEntryId, tokensBefore, details } = compactWithoutModel(preparation);
    session.appendCompaction(summary, firstKeptEntryId, tokensBefore, details);
    say(`A compaction of about ${tokensBefore.toLocaleString("en")} tokens.`);
  }
  const ahead = session.appendMessage({ role: "user", content: "Then go ahead.", timestamp: Date.now() });
  return { start, left, ahead };
}

function assistant(text: string, ...calls: readonly ToolCall[]): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }, ...calls],
    api: "example",
    provider: "example",
    model: "scripted",
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: calls.length > 0 ? "toolUse" : "stop",
    timestamp: Date.now(),
  };
}

function showContexts(session: SessionManager, { left, ahead }: Places): void {
  step(4, "Rebuild what the model sees");
  for (const [branch, leaf] of [
    ["the branch that was left", left],
    ["the branch that continues", ahead],
  ] as const) {
    const { messages, model, thinkingLevel } = contextAt(session, leaf);
    // For a provider: sessiontree's own roles become user messages, and every tool call gets a result.
    const request = convertToLlm(messages, { repairToolPairs: true });
    say(`On ${branch}: ${messages.length} messages, of ${session.getBranch().length} entries.`);
    say(`  First: ${request[0] === undefined ? "nothing" : excerpt(request[0])}`);
    say(`  Model: ${model?.provider}/${model?.modelId}, thinking ${thinkingLevel}`);
  }
}

function excerpt({ role, content }: Message): string {
  const text =
    typeof content === "string"
      ? content
      : content.map((block) => ("text" in block ? block.text : "")).join(" ");
  return `${role}: ${JSON.stringify(text.slice(0, 50))} …`;
}

/** Builds the context at an entry. Moving the leaf does not write anything. */
function contextAt(session: SessionManager, leaf: string | null): SessionContext {
  if (leaf === null) session.resetLeaf();
  else session.branch(leaf);
  return session.buildSessionContext();
}

/** Reopens the file and compares everything read with what was in memory. */
async function reopenAndCompare(
  session: SessionManager,
  places: Places,
  original: SessionManager,
): Promise<boolean> {
  step(5, "Reopen and compare");
  const before = recall(session, places);
  await session.close();
  const reopened = SessionManager.open(session.getSessionFile() ?? "", { mode: "read-only" });
  const leafIsLast = reopened.getLeafId() === places.ahead;
  const after = recall(reopened, places);
  const results = [
    report("the leaf is where the conversation continued", leafIsLast),
    ...Object.entries(before).map(([name, value]) => report(name, isDeepStrictEqual(after[name], value))),
    report(
      "the model sees at the old leaf what the given file says",
      isDeepStrictEqual(contextAt(reopened, places.start), contextAt(original, places.start)),
    ),
  ];
  return results.every((isEqual) => isEqual);
}

/** Returns the session's data for the comparison, keyed by the statement to report. */
function recall(session: SessionManager, { left, ahead }: Places): { [name: string]: unknown } {
  const entries = session.getEntries();
  return {
    "the header is equal": session.getHeader(),
    [`${entries.length} entries are equal, in order and with their parents`]: entries,
    "the labels are equal": entries.map(({ id }) => session.getLabel(id)),
    "every entry has the same children": entries.map(({ id }) => session.getChildren(id)),
    "the model sees the same on the branch that was left": contextAt(session, left),
    "the model sees the same on the branch that continues": contextAt(session, ahead),
  };
}

/** Draws a session file like `sessiontree tree FILE`. */
async function drawTree(path: string): Promise<void> {
  const { stdout, stderr, env } = process;
  console.log();
  await runCommandLine(["tree", "--pretty", path], { stdout, stderr, env, cwd: process.cwd() });
}

function step(number: number, title: string): void {
  console.log(`\n${number}. ${title}\n`);
}

function say(text: string): void {
  console.log(`   ${text}`);
}

function report(what: string, isTrue: boolean): boolean {
  say(`${isTrue ? "✓" : "✗ NOT:"} ${what}`);
  return isTrue;
}

try {
  const [file = BUNDLED_SESSION] = process.argv.slice(2);
  if (!(await mainJob(file))) {
    console.error("\nSomething did not come back as it was written: see the lines with ✗.");
    process.exitCode = 1;
  }
} catch (error) {
  // A problem with the file is reported in one line; any other error is a bug in this program.
  if (!isSessionError(error)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
}
