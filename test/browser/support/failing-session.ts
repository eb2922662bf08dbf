import { SessionWriter } from "./session-writer.ts";

/** IDs of the entries that tests look for in the session with failures. */
export interface FailingSession {
  readonly text: string;
  /** The answer with three parallel calls, and their results. */
  readonly parallel: string;
  readonly results: readonly string[];
  /** All failures, in file order. */
  readonly failures: readonly string[];
  /** A result of an earlier turn whose call has no parallel calls. */
  readonly single: string;
}

/** The last lines of a failed tool's output. */
const BROKEN = "AssertionError: expected 3 to be 4\n    at total.test.ts:7\n\nCommand exited with code 1\n";

/** Turns before those that matter: enough that nothing of the end is drawn at first. */
const QUIET_TURNS = 60;

/**
 * Creates a session with failures: a failed tool among parallel calls, a command, a model, and one on another
 * branch; it has no name, and its first prompt contains Markdown.
 * @param before - Called before the end, to add what a test needs besides.
 */
export function failingSession(before: (session: SessionWriter) => void = () => undefined): FailingSession {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  const first = session.user("## Why is the **total** off?\n\nSee `receipt.ts`.");
  session.assistant("Let me look.");
  session.tool("bash", { command: "npm run nothing" }, "no such script", { isError: true });
  const elsewhere = session.leaf ?? "";
  session.leaf = first;
  const single = session.tool("read", { path: "receipt.ts" }, "export const total = 1;\n");
  for (let turn = 0; turn < QUIET_TURNS; turn++) {
    session.user(`Question ${turn}`);
    session.assistant(`Answer ${turn}, in *some* words.`);
  }
  before(session);
  const calls = ["one", "two", "three"].map((name) => ({
    type: "toolCall",
    id: `call_${name}`,
    name: "bash",
    arguments: { command: `npm test ${name}` },
  }));
  const parallel = session.assistant([{ type: "text", text: "I run **all** at once." }, ...calls]);
  // They return in a different order.
  const results = ["two", "one", "three"].map((name) =>
    session.message({
      role: "toolResult",
      toolCallId: `call_${name}`,
      toolName: "bash",
      content: [
        { type: "text", text: `output of ${name}\n${"more\n".repeat(200)}${name === "three" ? BROKEN : ""}` },
      ],
      isError: name === "three",
    }),
  );
  const command = session.message({ role: "bashExecution", command: "make", output: "broken", exitCode: 2 });
  session.label(command, "here");
  const model = session.assistant([], { stopReason: "error", errorMessage: "overloaded" });
  session.assistant([], { stopReason: "aborted" });
  session.user("Go on.");
  return {
    text: session.text,
    parallel,
    results,
    failures: [elsewhere, results[2] ?? "", command, model],
    single,
  };
}
