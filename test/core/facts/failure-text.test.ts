import { expect, test } from "vitest";
import { findFailureLine, formatFailure } from "../../../src/core/facts/failure-text.ts";

/** Returns the failure text of a tool's output. */
function ofTool(...lines: string[]): string {
  const content = [{ type: "text", text: lines.join("\n") }];
  return formatFailure({ role: "toolResult", toolName: "bash", content, isError: true });
}

test.each<[what: string, lines: string[], told: string]>([
  ["one line", ["expected 3 to be 4"], "expected 3 to be 4"],
  ["a message at the end", ["> app@1.0.0 test", "> tap", "", "ok 1 - adds", "Not today."], "Not today."],
  [
    "an error, and what wraps it",
    ["> tsc --noEmit", "", "src/a.ts(3,5): error TS2322: No number.", "", "", "Command exited with code 2"],
    "src/a.ts(3,5): error TS2322: No number.",
  ],
  [
    "a traceback",
    ["Traceback (most recent call last):", '  File "a.py", line 3, in <module>', "ValueError: no digits"],
    "ValueError: no digits",
  ],
  [
    "a stack of calls",
    ["Error: Cannot find module 'x'", "    at load (node:internal:12:3)", "", "Node.js v24.1.0"],
    "Error: Cannot find module 'x'",
  ],
  [
    "npm behind it all",
    ["✖ 1 of 12 failed", "npm error Lifecycle script `check` failed with error:", "npm error code 2"],
    "✖ 1 of 12 failed",
  ],
  [
    "Qwen Code and Gemini CLI",
    ["Output: TypeError: x is not a function", "Error: (none)", "Signal: (none)"],
    "Output: TypeError: x is not a function",
  ],
  [
    "a drawn tree whose names match",
    ["lsd: 3: No such file or directory (os error 2).", "", "│   │   ├── assert.d.ts", "└── errors.ts"],
    "lsd: 3: No such file or directory (os error 2).",
  ],
  [
    "make",
    ["cc -c a.c", "a.c:3:1: error: expected ';'", "make: *** [a.o] Error 1"],
    "a.c:3:1: error: expected ';'",
  ],
  [
    "a count of no errors",
    ["cp: a: No such file or directory", "Done, 0 errors"],
    "cp: a: No such file or directory",
  ],
  [
    "what was stopped",
    ["error: slow", "Command timed out after 5 seconds"],
    "Command timed out after 5 seconds",
  ],
  ["colors", ["\u001b[31mError: red\u001b[39m", "bye"], "Error: red"],
  [
    "tests that failed",
    ["✗ display › shows both digits", "", "40 passing", "1 failing"],
    "✗ display › shows both digits",
  ],
  [
    "make alone",
    ["make: *** No rule to make target 'x'.  Stop."],
    "make: *** No rule to make target 'x'.  Stop.",
  ],
])("of %s is the most specific line", (_what, lines, told) => {
  expect(ofTool(...lines).replace(/ \(exit code \d\)/, "")).toBe(`bash failed: ${told}`);
});

test("of an exit code only is the exit code", () => {
  expect(ofTool("(no output)", "", "Command exited with code 1")).toBe("bash failed (exit code 1)");
});

test("names the tool or the command with its exit code; of an answer, returns its error", () => {
  const command = { role: "bashExecution", command: "make", exitCode: 2 };
  expect(formatFailure({ ...command, output: "cc a.c\na.c:1: error: no main\n" })).toBe(
    "$ make (exit code 2): a.c:1: error: no main",
  );
  expect(formatFailure({ ...command, output: "" })).toBe("$ make (exit code 2)");
  expect(formatFailure({ role: "bashExecution", command: "make", output: "no rule" })).toBe(
    "$ make: no rule",
  );
  const dollar = { role: "toolResult", toolName: "$make", content: "exit code 1" };
  expect(formatFailure(dollar)).toBe("$make failed (exit code 1)");
  const result = { role: "toolResult", toolName: "bash", content: "no\nCommand exited with code 3" };
  expect(formatFailure(result, { command: "npm test" })).toBe("bash npm test failed (exit code 3): no");
  expect(formatFailure(result, { command: `${"x".repeat(90)}\nls` })).toBe(
    `bash ${"x".repeat(79)}… failed (exit code 3): no`,
  );
  expect(formatFailure(result, { command: "cd a\nls" })).toBe("bash cd a… failed (exit code 3): no");
  expect(formatFailure({ role: "toolResult", toolName: "read", content: [] })).toBe("read failed");
  expect(formatFailure({ role: "toolResult", content: "gone" })).toBe("failed: gone");
  expect(formatFailure({ role: "assistant", stopReason: "error", errorMessage: "429: slow down" })).toBe(
    "429: slow down",
  );
  expect(formatFailure({ role: "assistant", stopReason: "error" })).toBe("the model failed");
});

test("finds an error at any position, even far from the end of a long output", () => {
  const noise = (characters: number) =>
    "all is well, nothing to see here\n".repeat(Math.ceil(characters / 33));
  const error = "src/a.ts(3,5): error TS2322: No number.";
  // At every position where the output may be cut.
  for (const behind of [10, 65_000, 65_500, 65_536, 65_560, 66_600, 130_000, 2_000_000]) {
    expect(ofTool(noise(100_000), error, noise(behind), "Done."), String(behind)).toBe(
      `bash failed: ${error}`,
    );
    expect(ofTool(error, noise(behind), "Done."), `first, ${behind}`).toBe(`bash failed: ${error}`);
  }
  // A line that names an error is more specific than one that reports a failure, which is more specific than any other.
  expect(ofTool(error, noise(100_000), "✗ display › shows both digits")).toBe(`bash failed: ${error}`);
  expect(ofTool("✗ early", noise(100_000), "✗ late", "bye")).toBe("bash failed: ✗ late");
  expect(ofTool("✗ early", noise(100_000), "bye")).toBe("bash failed: ✗ early");
});

test("neither an output nor a line of megabytes is read as a whole", () => {
  const text = formatFailure({
    role: "toolResult",
    toolName: "x",
    content: `${"a".repeat(5e6)}\n${"error ".repeat(1e6)}`,
  });
  expect(text.length).toBeLessThan(1100);
});

test.each([
  [
    "a line that names an error",
    "1 passed\nTypeError: x is not a function\nDone",
    "TypeError: x is not a function",
  ],
  ["a line that reports a failure", "cannot find it\n1 passed", "cannot find it"],
  ["no failure", "12 passing\n0 errors\n", undefined],
  ["nothing", "", undefined],
])("finds the line of an output that reports a failure: %s", (_what, output, line) => {
  expect(findFailureLine(output)).toBe(line);
});

test.each<[input: object, told: string]>([
  [{ commands: ["make all", "make test"] }, "run make all; make test failed: no"],
  [{ files: [{ path: "/a.txt" }, { path: "/b.txt" }] }, "run /a.txt; /b.txt failed: no"],
  [{ commands: [{ command: "make" }, 7, null] }, "run make failed: no"],
  [{ commands: [], query: "q" }, "run q failed: no"],
])("a call with several commands or files names them: %j", (input, told) => {
  const content = [{ type: "text", text: "no" }];
  expect(formatFailure({ role: "toolResult", toolName: "run", content, isError: true }, input)).toBe(told);
});

test.each<[input: object, told: string]>([
  [{ command: ["bash", "-lc", "npm test"] }, "shell npm test failed: no"],
  [{ command: ["npm", "test"] }, "shell npm test failed: no"],
  [{ cmd: ["git", "-c", "a=b", "log"] }, "shell git -c a=b log failed: no"],
])("a call with the words of one command names that command: %j", (input, told) => {
  const content = [{ type: "text", text: "no" }];
  expect(formatFailure({ role: "toolResult", toolName: "shell", content, isError: true }, input)).toBe(told);
});
