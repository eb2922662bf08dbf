import { describe, expect, test } from "vitest";
import { validateEntry, validateHeader } from "../../../src/core/format/validate.ts";
import fc from "../../support/fast-check.ts";
import { ENTRY_SAMPLES, HEADER_SAMPLE, MESSAGE_SAMPLES } from "./support/samples.ts";

const head = { id: "0a1b2c3d", parentId: null, timestamp: "2026-02-03T22:52:06.410Z" };

function problemsOf(value: unknown): readonly string[] {
  const result = validateEntry(value);
  return result.ok ? [] : result.problems;
}

function messageEntry(message: unknown): object {
  return { type: "message", ...head, message };
}

describe("a valid value", () => {
  test.each(ENTRY_SAMPLES)("$name is returned as the same object", ({ value }) => {
    const result = validateEntry(value);
    expect(result.ok && result.value).toBe(value);
  });

  test.each(MESSAGE_SAMPLES)(
    "an entry with a message of role $name is returned as the same object",
    ({ value }) => {
      expect(problemsOf(messageEntry(value))).toEqual([]);
    },
  );

  test("a system message of an old file, which names removed tools without an object, is valid", () => {
    expect(
      problemsOf(messageEntry({ role: "system", content: "", toolsRemoved: ["read"], timestamp: 1 })),
    ).toEqual([]);
  });

  test("a header is valid", () => {
    const result = validateHeader(HEADER_SAMPLE.value);
    expect(result.ok && result.value).toBe(HEADER_SAMPLE.value);
  });

  test("keeps keys such as __proto__ as data", () => {
    const line =
      '{"type":"custom","id":"a","parentId":null,"timestamp":"t","customType":"x","__proto__":{"y":1}}';
    const value: unknown = JSON.parse(line);
    const result = validateEntry(value);
    expect(result.ok && JSON.stringify(result.value)).toBe(line);
  });
});

describe("unknown values", () => {
  test("an entry of unknown type needs its head only", () => {
    expect(problemsOf({ type: "leaf", ...head, targetId: 4 })).toEqual([]);
    expect(problemsOf({ type: "leaf", ...head, timestamp: 5 })).toEqual([
      "timestamp: expected a string, found a number",
    ]);
  });

  test("a type named like a member of Object.prototype is unknown, too", () => {
    expect(problemsOf({ type: "constructor", ...head })).toEqual([]);
    expect(problemsOf({ type: "__proto__", ...head })).toEqual([]);
  });

  test("a message of a host's role needs the head only", () => {
    expect(problemsOf(messageEntry({ role: "note", text: 4 }))).toEqual([]);
    expect(problemsOf(messageEntry({ role: 4 }))).toHaveLength(1);
    expect(problemsOf(messageEntry({}))).toHaveLength(1);
  });
});

describe("problems", () => {
  const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3 };
  const assistant = { role: "assistant", api: "a", provider: "p", model: "m", timestamp: 1 };

  test("name the place and the expected kind", () => {
    const content = [
      { type: "text" },
      { type: "audio" },
      { type: "toolCall", id: "c", name: "n", arguments: "{}" },
    ];
    expect(problemsOf(messageEntry({ ...assistant, content, usage, stopReason: "injected" }))).toEqual([
      "message.content[0].text: missing, expected a string",
      'message.content[1].type: expected "text" or "thinking" or "toolCall"',
      "message.content[2].arguments: expected a JSON object",
      "message.usage.cost: missing, expected an object",
      'message.stopReason: expected "pending" or "stop" or "length" or "toolUse" or "error" or "aborted" or "deferred", found "injected"',
    ]);
  });

  test("of a union name the closest variant", () => {
    expect(problemsOf(messageEntry({ role: "user", content: 4, timestamp: 1 }))).toEqual([
      "message.content: expected a string or an array of blocks",
    ]);
    expect(problemsOf(messageEntry({ role: "user", content: ["x"], timestamp: 1 }))).toEqual([
      "message.content[0]: expected an object, found a string",
    ]);
    const edit = { type: "context_edit", ...head, targetId: "a" };
    expect(problemsOf({ ...edit, replacement: { content: [{ type: "thinking" }] } })).toEqual([
      expect.stringMatching(/^replacement\.content\[0\]\./),
    ]);
    expect(problemsOf({ ...edit, replacement: "x" })).toEqual([
      "replacement: expected null or an object with content",
    ]);
  });

  test("reach into unions in lists", () => {
    const tail = [{ role: "user", content: [{ type: "image", data: "x" }], timestamp: 1 }];
    const entry = { type: "compaction", ...head, summary: "", firstKeptEntryId: "a", tokensBefore: 1 };
    expect(problemsOf({ ...entry, retainedTail: tail })).toEqual([
      "retainedTail[0].content[0].mimeType: missing, expected a string",
    ]);
  });

  test("differ between values that are not entries", () => {
    expect(problemsOf(null)).toEqual(["expected an object, found null"]);
    expect(problemsOf([])).toEqual(["expected an object, found an array"]);
    expect(problemsOf("x")).toEqual(["expected an object, found a string"]);
    expect(problemsOf({})[0]).toMatch(/^type: expected "message" or /);
    expect(problemsOf({ type: 4 })[0]).toMatch(/^type: expected "message" or /);
  });

  test("name the fields of a header", () => {
    const result = validateHeader({ type: "session", version: "3", id: "x", timestamp: "t" });
    expect(result).toEqual({
      ok: false,
      problems: ["version: expected a number, found a string", "cwd: missing, expected a string"],
    });
  });

  test("never quote long values", () => {
    const secret = "s".repeat(1000);
    const problems = problemsOf(messageEntry({ ...assistant, content: [], usage, stopReason: secret }));
    expect(problems.join()).not.toContain(secret);
    expect(problems.join()).toContain("found a string");
  });
});

describe("hostile values", () => {
  test("a list with a million bad elements gives a short answer", () => {
    const content = new Array<number>(1_000_000).fill(0);
    const problems = problemsOf(messageEntry({ role: "user", content, timestamp: 1 }));
    expect(problems).toHaveLength(10);
    expect(problems[0]).toBe("message.content[0]: expected an object, found a number");
  });

  test("a million bad sections and many lists give a short answer", () => {
    const sections = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`s${i}`, 4]));
    const bad = new Array<number>(100_000).fill(0);
    const problems = problemsOf(
      messageEntry({
        role: "system",
        content: bad,
        sections,
        toolsAdded: bad,
        toolsRemoved: bad,
        timestamp: 1,
      }),
    );
    expect(problems).toHaveLength(20);
    expect(problems[19]).toBe("and 21 more problems");
  });

  test("a name of a megabyte does not make a line of a megabyte", () => {
    const sections = { ["n".repeat(1_000_000)]: 4 };
    const [problem] = problemsOf(messageEntry({ role: "system", content: "", sections, timestamp: 1 }));
    expect(problem?.length).toBeLessThan(400);
  });

  test("depth does not exhaust the stack", () => {
    let deep: unknown = {};
    for (let i = 0; i < 200_000; i++) deep = { deep };
    const call = { type: "toolCall", id: "c", name: "n", arguments: deep };
    const problems = problemsOf(messageEntry({ role: "assistant", content: [call] }));
    expect(problems.some((problem) => problem.includes("arguments"))).toBe(false);
    expect(problemsOf({ type: "custom", ...head, customType: "x", data: deep })).toEqual([]);
  });

  test("any JSON value is validated without an exception and without a change", () => {
    const samples = [...ENTRY_SAMPLES, ...MESSAGE_SAMPLES, HEADER_SAMPLE].map((sample) => sample.value);
    const keys = [...new Set(samples.flatMap((value) => Object.keys(value))), "__proto__"];
    const words = samples
      .flatMap((value) => [value["type"], value["role"]])
      .filter((word) => word !== undefined);
    const { value: anything } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(...words, ...samples),
        fc.jsonValue(),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom(...keys), tie("value"), { maxKeys: 8 }),
      ),
    }));
    const overlay = fc.tuple(fc.constantFrom(...samples), fc.dictionary(fc.constantFrom(...keys), anything));
    fc.assert(
      fc.property(
        fc.oneof(
          anything,
          overlay.map(([base, change]) => ({ ...base, ...change })),
        ),
        (value) => {
          const before = JSON.stringify(value);
          for (const result of [validateEntry(value), validateHeader(value)]) {
            if (result.ok) expect(result.value).toBe(value);
            else expect(result.problems.length).toBeGreaterThan(0);
          }
          expect(JSON.stringify(value)).toBe(before);
        },
      ),
      { numRuns: 500 },
    );
  });
});
