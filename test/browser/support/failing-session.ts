import { SessionWriter } from "./session-writer.ts";

/** Ids of what tests look for in the session with failures. */
export interface FailingSession {
  readonly text: string;
  /** The answer with three calls at once, and their results. */
  readonly parallel: string;
  readonly results: readonly string[];
  /** All that failed, in the order of the file. */
  readonly failures: readonly string[];
  /** A result of an earlier turn whose call stands alone. */
  readonly single: string;
}

/** How the output of a tool ends that failed. */
const BROKEN = "AssertionError: expected 3 to be 4\n    at total.test.ts:7\n\nCommand exited with code 1\n";

/** Turns before those that matter: so many that nothing of the end is drawn at first. */
const QUIET_TURNS = 60;

/**
 * Makes a session in which things go wrong: a failed tool among parallel calls, a command, a model, and one on another
 * branch; without a name, its first prompt has Markdown in it.
 *
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
  // They come back in another order.
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
