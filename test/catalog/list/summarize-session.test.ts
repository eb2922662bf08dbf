import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { summarizeFile, summarizeSession } from "../../../src/catalog/list/file-summary.ts";
import { Pace } from "../../../src/session/files/time-slices.ts";
import { IS_WINDOWS } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { plainSummary } from "../support/plain-reference.ts";
import { Chain, header, joinLines, put, START_MS } from "../support/sessions.ts";

async function summarize(content: string | Uint8Array) {
  return summarizeSession(put(join(temporaryFolder(), "a.jsonl"), content, 5000));
}

describe("a row", () => {
  test("describes the session", async () => {
    const chain = new Chain(header({ parentSession: "/other.jsonl" }));
    chain.name("first name").user("How are you?").assistant("Fine.").name("  second name ");
    const path = put(join(temporaryFolder(), "a.jsonl"), chain.text);
    expect(await summarizeSession(path)).toEqual({
      path,
      id: "session-1",
      cwd: "/project",
      name: "second name",
      title: "second name",
      parentSession: "/other.jsonl",
      created: new Date(START_MS),
      modified: new Date(START_MS + 3000),
      messageCount: 2,
      firstMessage: "How are you?",
    });
  });

  test("omits absent values", async () => {
    const row = await summarize(joinLines([{ type: "session", id: "x" }]));
    expect(Object.keys(row ?? {}).sort()).toEqual(
      ["created", "cwd", "id", "messageCount", "modified", "path", "title"].sort(),
    );
    expect(row).toMatchObject({ cwd: "", messageCount: 0 });
  });

  test("reads branchedFrom as parentSession", async () => {
    const row = await summarize(joinLines([header({ branchedFrom: "/old.jsonl" })]));
    expect(row?.parentSession).toBe("/old.jsonl");
  });

  test("has no name after an empty one", async () => {
    expect(await summarize(new Chain().name("a").name(" ").text)).not.toHaveProperty("name");
  });

  test("counts messages of every role", async () => {
    const chain = new Chain().user("a").assistant("b").message({ role: "toolResult", content: [] });
    chain.message({ role: "bashExecution", command: "ls", output: "" }).add("custom", { customType: "x" });
    expect((await summarize(chain.text))?.messageCount).toBe(4);
  });

  test("quotes the first user message with text, its blocks joined by one space", async () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    const chain = new Chain().assistant("before").user([image]).user("").user(null);
    chain.user([{ type: "text", text: "look" }, image, { type: "text", text: "here" }]).user("later");
    expect((await summarize(chain.text))?.firstMessage).toBe("look here");
  });
});

describe("the time of a session", () => {
  test("is the latest of its user and assistant messages, wherever it is", async () => {
    const chain = new Chain().user("a", { timestamp: 5000 }).assistant("b", { timestamp: 9000 });
    chain.user("c", { timestamp: 7000 }).message({ role: "toolResult", content: [], timestamp: 99_000 });
    expect((await summarize(chain.text))?.modified).toEqual(new Date(9000));
  });

  test("is the entry's if the message has none, and not one that a tool received", async () => {
    const call = { type: "toolCall", id: "c", name: "n", arguments: { timestamp: 4_000_000_000_000 } };
    const chain = new Chain().user("a").message({ role: "assistant", content: [call] });
    expect((await summarize(chain.text))?.modified).toEqual(new Date(START_MS + 2000));
  });

  test("is not that of a message whose body is damaged", async () => {
    const chain = new Chain().user("a").assistant("b", { timestamp: START_MS + 99_000 });
    const damaged = chain.text.replace('"stopReason":"stop"', '"stopReason":"st\\op"');
    const row = await summarize(damaged);
    expect(row?.modified).toEqual(new Date(START_MS + 1000));
    expect(row?.messageCount).toBe(2);
  });

  test("is the header's, or otherwise the file's, if no message has one", async () => {
    expect((await summarize(joinLines([header()])))?.modified).toEqual(new Date(START_MS));
    const row = await summarize(joinLines([header({ timestamp: "some day" })]));
    expect([row?.modified, row?.created]).toEqual(Array(2).fill(new Date(START_MS + 5_000_000)));
  });

  test("is never an invalid calendar date", async () => {
    const row = await summarize(new Chain().user("a", { timestamp: 1e300 }).text);
    expect(row?.modified).toEqual(new Date(START_MS + 1000));
  });
});

describe("files in a bad state", () => {
  const whole = new Chain().user("one").assistant("two").user("three").text;

  test("are listed and marked", async () => {
    const broken = whole.replace('one","timestamp":', "on\n");
    expect(await summarize(broken)).toMatchObject({ messageCount: 3, issueCount: 2 });
    expect(await summarize(whole)).not.toHaveProperty("issueCount");
  });

  test("have records on one line counted separately", async () => {
    const glued = whole.replace('}\n{"type":"message","id":"00000003"', '}{"type":"message","id":"00000003"');
    expect(glued).not.toBe(whole);
    expect(await summarize(glued)).toMatchObject({ messageCount: 3, issueCount: 1 });
  });

  test("have repeated lines counted once, and those after a second header with the others", async () => {
    const again = whole + joinLines([header()]) + whole.slice(whole.indexOf("\n") + 1);
    expect(await summarize(again)).toMatchObject({ messageCount: 3, issueCount: 4 });
  });

  test("end at the last complete line if the last one is torn", async () => {
    expect(await summarize(whole.slice(0, -10))).toMatchObject({ messageCount: 2, issueCount: 1 });
    expect(await summarize(whole.slice(0, -1))).toMatchObject({ messageCount: 3 });
    expect(await summarize(whole.slice(0, -1))).not.toHaveProperty("issueCount");
  });

  test("have their header wherever it is", async () => {
    const row = await summarize(joinLines([{ type: "title", title: "t" }]) + whole);
    expect(row).toMatchObject({ id: "session-1", messageCount: 3, issueCount: 1 });
  });
});

test.each([
  ["nothing", ""],
  ["no header", joinLines([{ type: "message", id: "a", parentId: null, message: {} }])],
  ["a header whose id is not a string", joinLines([header({ id: 5 })])],
  ["no JSON", "hello\n".repeat(40)],
  ["zeros", new Uint8Array(100)],
  ["a header after too many records", joinLines([...Array(16).fill({ type: "x" }), header()])],
])("a file with %s is not a session", async (_, content) => {
  expect(await summarize(content)).toBeUndefined();
});

describe("other versions and spellings", () => {
  test("version 1 has no ids, and version 2 another role", async () => {
    const message = (role: string, timestamp: number) => ({
      type: "message",
      timestamp: new Date(timestamp).toISOString(),
      message: { role, content: "text", timestamp },
    });
    const first = joinLines([
      header({ version: undefined }),
      message("user", 5000),
      message("assistant", 6000),
    ]);
    expect(await summarize(first)).toMatchObject({ messageCount: 2, modified: new Date(6000) });
    const second = new Chain(header({ version: 2 })).user("a").message({ role: "hookMessage", content: "b" });
    expect(await summarize(second.text)).toMatchObject({
      messageCount: 2,
      modified: new Date(START_MS + 1000),
    });
  });

  test("CRLF, a byte order mark, blank lines, and spaces change nothing", async () => {
    const text = new Chain().user("a").assistant("b").text;
    const spaced = `\ufeff\n${text.replaceAll("\n", "\r\n\r\n").replaceAll('":', '" : ')}`;
    const { path: _, ...row } = { path: "", ...(await summarize(text)) };
    expect(await summarize(spaced)).toMatchObject(row);
  });
});

test.each([
  '{"type":"text","text":"x"}',
  '{"type":"title","id":"00000009","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}',
  '{"type":"message","id":"00000009","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{}}',
  '{"type":"label","id":"00000009"} {"type":"label"',
  '{"type":"session","id":"y"}',
  '{"a":1}',
  "5",
  "\0\0\0",
  '{"type":"mess',
])("an end without a line break is treated as a reader does: %j", async (end) => {
  for (const start of ["", joinLines([header()]), new Chain().user("a").text]) {
    const bytes = Buffer.from(start + end);
    const path = put(join(temporaryFolder(), "a.jsonl"), bytes);
    expect(await summarizeFile(path, undefined, new Pace())).toMatchObject(plainSummary(bytes));
  }
});

test("files and lines longer than a piece are read like others", async () => {
  const long = (length: number) => "x".repeat(length);
  const chain = new Chain().user(long(700_000)).assistant(long(600_000)).user(long(2_500_000));
  for (let i = 0; i < 2000; i++)
    chain.message({ role: "toolResult", content: long(900 + (i % 7)) }).assistant(`${i}`);
  chain.user("end", { timestamp: START_MS });
  const path = put(join(temporaryFolder(), "a.jsonl"), chain.text);
  const found = await summarizeFile(path, undefined, new Pace());
  expect(found).toMatchObject(plainSummary(readFileSync(path)));
  expect(found.summary?.lastMessageMs).toBe(START_MS + 4003 * 1000);
});

describe("a file that is not regular", () => {
  test.skipIf(IS_WINDOWS)("is not opened", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "folder.jsonl"));
    execFileSync("mkfifo", [join(folder, "pipe.jsonl")]);
    for (const name of readdirSync(folder)) {
      await expect(summarizeSession(join(folder, name))).rejects.toThrow("is not a plain file");
    }
  });

  test("causes the system's error if it does not exist", async () => {
    await expect(summarizeSession(join(temporaryFolder(), "none.jsonl"))).rejects.toMatchObject({
      code: "ENOENT",
    });
  });
});

test("reading changes nothing", async () => {
  const path = put(join(temporaryFolder(), "a.jsonl"), new Chain(header({ version: 1 })).user("a").text, 77);
  const before = statSync(path);
  const row = await summarizeSession(path);
  expect(row?.firstMessage).toBe("a");
  const after = statSync(path);
  expect([after.mtimeMs, after.ctimeMs, after.size]).toEqual([before.mtimeMs, before.ctimeMs, before.size]);
  expect(readdirSync(join(path, ".."))).toEqual([basename(path)]);
});

test("the caller can abort it", async () => {
  const path = put(join(temporaryFolder(), "a.jsonl"), new Chain().user("a").text);
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(summarizeSession(path, { signal })).rejects.toMatchObject({ code: "ABORTED" });
});

const corpus = fileURLToPath(new URL("../../../../shared/corpus", import.meta.url));

test.skipIf(!existsSync(corpus))(
  "files of other writers (skipped where ../shared/corpus is missing)",
  async () => {
    const files = readdirSync(corpus, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".jsonl"),
    );
    expect(files.length).toBeGreaterThan(20);
    for (const name of files) {
      const path = join(corpus, name);
      const found = await summarizeFile(path, undefined, new Pace());
      expect({ name, ...found }).toMatchObject({ name, ...plainSummary(readFileSync(path)) });
    }
  },
);
