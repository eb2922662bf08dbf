import { expect, test } from "vitest";
import { failureLine } from "../../../src/apps/page/model/entry-text.ts";
import { makeModel, said } from "./support/session.ts";

function lineOf(role: string, fields: object): string {
  return failureLine(makeModel([["a", null, said(role, [], fields)]]).entryAt(0));
}

test("a failure shows the line of the error, not the harmless ones around it", () => {
  const output = (...lines: string[]) =>
    lineOf("toolResult", { content: [{ type: "text", text: lines.join("\n") }], isError: true });
  expect(output("> till@1.0.0 test", "0 errors", "Command exited with code 3")).toBe("exit code 3: 0 errors");
  expect(
    output(
      "Debugger attached.",
      "cp: a.json: No such file",
      "Debugger left.",
      "",
      "Command exited with code 1",
    ),
  ).toBe("exit code 1: cp: a.json: No such file");
  expect(
    output("src/a.ts(1,2): error TS2305: no member", "Found 1 error.", "Command exited with code 2"),
  ).toBe("exit code 2: src/a.ts(1,2): error TS2305: no member");
  expect(output("Traceback (most recent call last):", '  File "a.py", line 1', "ValueError: no sum")).toBe(
    "ValueError: no sum",
  );
  expect(output("ok 1", "ok 2", "1 of 12 failed: expected 2997, got 2996.9999")).toBe(
    "1 of 12 failed: expected 2997, got 2996.9999",
  );
  expect(output("  ✗ display › shows both digits", "", "40 passing", "1 failing")).toBe(
    "✗ display › shows both digits",
  );
  expect(output("cannot add", "Tests 1 failed")).toBe("cannot add");
  expect(output("one", "two")).toBe("two");
  expect(output("(no output)", "", "Command exited with code 1")).toBe("exit code 1");
  expect(output("")).toBe("failed without a message");
});

test("lines of any length and any number take no time", () => {
  const text = `${".".repeat(1_000_000)}\n${"Error".repeat(100_000)}\n${"a\n".repeat(300_000)}broken`;
  expect(lineOf("toolResult", { content: text, isError: true })).toMatch(/Error.*…$/);
  const dots = `${"x\n".repeat(10)}${".".repeat(90_000)} broken`;
  expect(lineOf("toolResult", { content: dots, isError: true })).toMatch(/^\.+…$/);
});

test("commands show their exit code, models their error, and successes nothing", () => {
  expect(lineOf("bashExecution", { command: "make", output: "no rule\n", exitCode: 2 })).toBe(
    "exit code 2: no rule",
  );
  expect(lineOf("assistant", { stopReason: "error", errorMessage: "overloaded" })).toBe("overloaded");
  expect(lineOf("assistant", { stopReason: "error" })).toBe("the model failed");
  expect(lineOf("toolResult", { content: "Error: no", isError: false })).toBe("");
});
