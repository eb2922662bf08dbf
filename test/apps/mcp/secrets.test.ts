import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { recallServer } from "../../../src/apps/mcp/recall-server.ts";
import { secretPatterns } from "../../../src/apps/recall/cleaner.ts";
import fc from "../../support/fast-check.ts";
import { temporaryFolder } from "../cli/support/cli.ts";
import { userLine, writeLines } from "../cli/support/sessions.ts";
import { copyToStore } from "../recall/support/past.ts";

const KEY = String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----`;

/** As in docs/recall.md, plus a pattern that does not match a key without its end. */
const PATTERNS = [`${KEY}|-----BEGIN [A-Z ]*PRIVATE KEY-----[\\s\\S]*`, KEY].map(
  (key) => String.raw`
\b(?:sk|ghp|xox[abp])[-_][A-Za-z0-9_-]{16,}
${key}
(?<=password[=:]\s?)\S+
`,
);

/** Letters next to no secret, so that a piece of one is found nowhere else. */
const WORD = "tulips";

const LETTERS = [..."ABCDEFGHJKLMNPQRTUVWXYZ23456789"];

const body = (length: number) =>
  fc.array(fc.constantFrom(...LETTERS), { minLength: length, maxLength: length }).map((all) => all.join(""));

interface Secret {
  readonly text: string;
  readonly bodies: readonly string[];
}

const secrets = fc.oneof(
  fc
    .tuple(fc.constantFrom("sk-", "ghp_", "xoxb-", "password="), body(40))
    .map(([front, one]): Secret => ({ text: `${front}${one}`, bodies: [one] })),
  fc.array(body(64), { minLength: 2, maxLength: 12 }).map((bodies): Secret => {
    const text = `-----BEGIN RSA PRIVATE KEY-----\n${bodies.join("\n")}\n-----END RSA PRIVATE KEY-----`;
    return { text, bodies };
  }),
);

/** The text before a secret, and the format of the text that contains it. */
const fronts = fc.constantFrom(
  "",
  "\n",
  "\t",
  "key:\t",
  '"',
  "x\u001b[31m",
  "a\u200b",
  "%0A",
  "\\n",
  "\\\\n",
  "\u202e",
);
const forms = fc.constantFrom(
  (text: string) => text,
  (text: string) => JSON.stringify({ nested: text }),
  (text: string) => JSON.stringify({ nested: JSON.stringify([text]) }),
  (text: string) => `${text.slice(0, 9)}\u200b${text.slice(9)}`,
  (text: string) => `${text.slice(0, 12)}\u200d${text.slice(12)}`,
);
const lengths = fc.constantFrom(0, 1, 3, 20, 40, 70, 110, 128, 136, 190, 280, 390, 700, 1400, 3990);

const planted = fc.record({ secret: secrets, front: fronts, form: forms, length: lengths, behind: lengths });

type Planted = typeof planted extends fc.Arbitrary<infer T> ? T : never;

function textOf({ secret, front, form, length, behind }: Planted): string {
  const filler = (size: number) => `${WORD} `.repeat(Math.ceil(size / 7)).slice(0, size);
  return `${filler(length)}${front === "" ? " " : ""}${form(`${front}${secret.text}`)} ${filler(behind)}`;
}

const AT = "2026-02-03T22:01:00.000Z";

/** Writes a session with a secret in every place that allows text. */
function writeSession(folder: string, plant: Planted, isNamed: boolean, isStore: boolean): string {
  const text = textOf(plant);
  let parentId: string | null = null;
  const entry = (type: string, fields: object, id = `${type}-${Math.random().toString(36).slice(2, 10)}`) => {
    const line = { type, id, parentId, timestamp: AT, ...fields };
    parentId = id;
    return line;
  };
  const message = (fields: object, id?: string) =>
    entry("message", { message: { timestamp: 1, ...fields } }, id);
  // A list has removed the colors from names of models.
  const name = textOf({ ...plant, front: "\t" });
  const model = { provider: name, model: name, api: "m", stopReason: "toolUse" };
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { total: 0 } };
  const failed = { role: "toolResult", toolCallId: "c1", toolName: text, isError: true };
  const call = (id: string, given: object) => ({ type: "toolCall", id, name: "bash", arguments: given });
  const given = { command: `echo ${text}`, path: `${text}/totals.ts`, [text]: { deep: [text] } };
  // Another session has a secret in its ID, its folder, and its parent's.
  const id = isStore && !/^[\w-]+$/.test(plant.secret.text) ? "other" : plant.secret.text;
  const header = {
    type: "session",
    version: 3,
    timestamp: AT,
    id,
    cwd: join(folder, text),
  };
  writeFileSync(
    join(folder, "other.jsonl"),
    `${JSON.stringify({ ...header, parentSession: text })}\n${JSON.stringify(userLine("a1", null, text))}\n`,
  );
  return writeLines(folder, "plain.jsonl", [
    message({ role: "user", content: text }, "asked"),
    ...(isNamed ? [entry("session_info", { name: text })] : []),
    message({ role: "assistant", content: [{ type: "text", text }, call("c1", given)], usage, ...model }),
    message({ ...failed, content: [{ type: "text", text: `RangeError: ${text}\nexit 1` }] }, "failed"),
    message({
      role: "assistant",
      content: [call("c2", { ...given, command: `echo ${text} -v` })],
      usage,
      ...model,
    }),
    message({ role: "toolResult", toolCallId: "c2", toolName: "bash", content: [{ type: "text", text }] }),
    message({
      role: "assistant",
      content: [],
      stopReason: "error",
      errorMessage: text,
      usage,
      provider: "p",
      model: "m",
    }),
    message({ role: "user", content: `${WORD} again` }, plant.secret.text),
    message({ role: "bashExecution", command: text, output: text, exitCode: 1 }),
    entry("custom", { customType: text, data: { content: text, [text]: text } }),
    entry("custom_message", { customType: text, content: text, display: true }),
    entry("branch_summary", { fromId: "asked", summary: text }),
    entry("compaction", { summary: text, firstKeptEntryId: "asked", tokensBefore: 3 }),
    entry("label", { targetId: "asked", label: text }),
    message({
      role: "assistant",
      content: [{ type: "text", text: `Fixed. ${text}` }],
      usage,
      ...model,
      stopReason: "stop",
    }),
  ]);
}

/** Sends every request that a client can send, and returns the answers. */
async function askAll(client: Client, name: string, maxBytes: number, plant: Planted) {
  const answers: { what: string; text: string; max: number; isFramed: boolean }[] = [];
  const take = async (what: string, max: number, isFramed: boolean, ask: () => Promise<string>) => {
    const text = await ask().catch((error: unknown) => String(Object(error).message));
    answers.push({ what, text, max, isFramed });
  };
  const content = plant.secret.bodies[0] ?? "";
  for (const [tool, values] of [
    ["search_sessions", { query: WORD, limit: 20 }],
    ["search_sessions", { query: content.slice(3, 20) }],
    ["search_sessions", { query: WORD, failed: true, latest: true }],
    ["search_sessions", { latest: true }],
    ["search_sessions", { roles: ["user"] }],
    ["read_entries", { session: name }],
    ["read_entries", { session: name, entry: "asked", before: 10, after: 10, max_chars_per_entry: 100 }],
    ["read_entries", { session: name, entry: "failed", max_chars_per_entry: 20_000, thinking: true }],
    ["read_entries", { session: name, entry: "asked", offset: 40 }],
    ["read_entries", { session: name, entry: "missing" }],
    ["session_overview", { session: name }],
    ["session_overview", { session: WORD }],
    ["find_failures", { error: `RangeError ${WORD}`, limit: 10 }],
    ["find_failures", {}],
    ["file_history", { path: "totals.ts" }],
    ["usage", { by: ["session", "model", "project"] }],
  ] as const)
    await take(tool, maxBytes, true, async () => {
      const answer = await client.callTool({ name: tool, arguments: { ...values, max_bytes: maxBytes } });
      return String(Object(Object(answer.content)[0]).text);
    });
  for (const given of [{ session: name }, { session: WORD }, {}])
    await take("handoff", 8 * 1024 + 100, true, async () => {
      const { messages } = await client.getPrompt({ name: "handoff", arguments: given });
      return String(Object(messages[0]?.content).text);
    });
  await take("recall", 4096, false, async () => {
    const { messages } = await client.getPrompt({ name: "recall", arguments: { topic: textOf(plant) } });
    return String(Object(messages[0]?.content).text);
  });
  await take("resources", 25 * 1024, false, async () =>
    JSON.stringify((await client.listResources()).resources),
  );
  for (const uri of [`session/${name}`, `session/${name}/entry/failed`, `session/${name}/entry/none`])
    await take(uri, 4096, true, async () => {
      const { contents } = await client.readResource({ uri: `sessiontree://${uri}` });
      return String(Object(contents[0]).text);
    });
  return answers;
}

/** Returns the part of an answer outside the frame. */
function outside(text: string): string {
  return text.replace(/<past-sessions>\n[\s\S]*?\n<\/past-sessions>/g, "");
}

test("no piece of a secret leaves the server from any place, and every answer is bounded and framed", async () => {
  let asked = 0;
  await fc.assert(
    fc.asyncProperty(
      planted,
      fc.integer({ min: 1024, max: 24_576 }),
      fc.boolean(),
      fc.boolean(),
      fc.constantFrom(...PATTERNS),
      async (plant, maxBytes, isStore, isNamed, patterns) => {
        const folder = join(temporaryFolder(), "sessions");
        mkdirSync(folder);
        const path = writeSession(folder, plant, isNamed, isStore);
        const hideSecrets = secretPatterns(patterns);
        const where = isStore
          ? { store: await copyToStore(path, join(folder, "other.jsonl")) }
          : { sessionDir: folder };
        const server = await recallServer({ cwd: folder, hideSecrets, env: {}, ...where });
        const client = new Client({ name: "test", version: "1" });
        const [near, far] = InMemoryTransport.createLinkedPair();
        await Promise.all([server.connect(far), client.connect(near)]);
        const answers = await askAll(client, "plain.jsonl", maxBytes, plant);
        await client.close();
        for (const { what, text, max, isFramed } of answers) {
          // Words of the question itself, which appear in no answer.
          const held = text.replace(/^Words in none of these hits: .*$/m, "");
          for (const one of plant.secret.bodies)
            for (let i = 0; i + 12 <= one.length; i++)
              expect([what, held.includes(one.slice(i, i + 12)) ? text : ""]).toEqual([what, ""]);
          expect([what, Buffer.byteLength(text) <= max ? "" : text]).toEqual([what, ""]);
          if (isFramed) expect([what, outside(text)]).toEqual([what, expect.not.stringContaining(WORD)]);
          asked++;
        }
      },
    ),
    { numRuns: 80, endOnFailure: true },
  );
  expect(asked).toBeGreaterThan(100);
});
