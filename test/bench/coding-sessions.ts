import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { seededRandom } from "./data.ts";

/** Files that sessions work on; the first ones in most of them. */
export const FILES = Array.from({ length: 400 }, (_, i) => {
  const folder = ["src/orders", "src/billing", "src/users", "src/web", "test"][i % 5] ?? "src";
  const name = ["index", "types", "service", "routes", "store", "cache", "form", "table"][(i >> 2) % 8];
  return `${folder}/${i % 3 === 0 ? name : `${name}-${i}`}.ts`;
});

/** Commands that fail, with their output. */
export const FAILURES = Array.from({ length: 60 }, (_, i) => {
  const file = FILES[(i * 7) % FILES.length] ?? "";
  const command = ["npm test --", "npx tsc --noEmit -p", "npx eslint", "node scripts/build.mjs"][i % 4] ?? "";
  const what = ["totals", "invoice", "session", "discount", "currency", "address", "webhook"][i % 7] ?? "";
  const error =
    ["RangeError: expected", "TypeError: cannot read properties of undefined reading", "AssertionError:"][
      i % 3
    ] ?? "";
  return { command: `${command} ${file}`, output: `${error} ${what}Of${i} in ${file}` };
});

const WORDS =
  "the agent reads a file and finds that the test fails because of a wrong path in its config while the order is stored with another currency than the customer chose so that rounding happens twice".split(
    " ",
  );

/** Picks the first ones most often. */
export function pickFrequent<T>(all: readonly T[], random: () => number): T {
  const found = all[Math.floor(all.length * random() ** 3)];
  if (found === undefined) throw new Error("there is nothing to pick");
  return found;
}

/**
 * Creates sessions of one project in which files are read and edited, and commands run, one in six of which fails and is fixed.
 *
 * @param sessions - Number of sessions.
 * @param bytes - Approximate size of each session.
 */
export function codingSessions(folder: string, cwd: string, sessions: number, bytes: number): string {
  for (let i = 0; i < sessions; i++) {
    const start = Date.UTC(2026, 0, 1) + i * 3_600_000;
    const name = `${new Date(start).toISOString().replace(/[:.]/g, "-")}_bench-${i}.jsonl`;
    const path = join(folder, name);
    if (existsSync(path)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.tmp`, [...sessionLines(i, cwd, start, bytes)].join(""));
    renameSync(`${path}.tmp`, path);
  }
  return folder;
}

function* sessionLines(number: number, cwd: string, start: number, bytes: number): Generator<string> {
  const random = seededRandom(number + 1);
  let [parentId, count, written]: [string | null, number, number] = [null, 0, 0];
  const time = () => new Date(start + count * 5000).toISOString();
  const header = { type: "session", version: 3, id: `bench-${number}`, timestamp: time(), cwd };
  yield `${JSON.stringify(header)}\n`;
  const entry = (message: object) => {
    const id = (Math.imul(++count, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
    const fields = { type: "message", id, parentId, timestamp: time() };
    parentId = id;
    const line = `${JSON.stringify({ ...fields, message: { ...message, timestamp: start + count * 5000 } })}\n`;
    written += line.length;
    return line;
  };
  const call = (name: string, args: object, output: string, isError = false) => {
    const id = `call-${count}`;
    const asked = entry(answer([{ type: "toolCall", id, name, arguments: args }]));
    const content = [{ type: "text", text: output }];
    return asked + entry({ role: "toolResult", toolCallId: id, toolName: name, content, isError });
  };
  while (written < bytes) {
    yield entry({ role: "user", content: [{ type: "text", text: prose(random, 200) }] });
    for (let step = 0; step < 8; step++) {
      const path = pickFrequent(FILES, random);
      const { command, output } = pickFrequent(FAILURES, random);
      const kind = random();
      if (kind < 0.4) yield call("read", { path }, prose(random, 2500));
      else if (kind < 0.65)
        yield call(
          "edit",
          { path, oldText: prose(random, 200), newText: prose(random, 250) },
          `edited ${path}`,
        );
      else if (kind < 0.83) yield call("bash", { command }, prose(random, 900));
      else {
        yield call(
          "bash",
          { command },
          `${prose(random, 600)}\n${output}\n\nCommand exited with code 1`,
          true,
        );
        yield call("edit", { path, oldText: "a", newText: prose(random, 200) }, `edited ${path}`);
        yield call("bash", { command }, `${prose(random, 200)}\nall passed`);
      }
    }
    yield entry(answer([{ type: "text", text: prose(random, 500) }]));
  }
}

function answer(content: readonly object[]): object {
  const cost = { input: 0.001, output: 0.002, cacheRead: 0, cacheWrite: 0, total: 0.003 };
  const usage = { input: 900, output: 120, cacheRead: 0, cacheWrite: 0, totalTokens: 1020, cost };
  return {
    role: "assistant",
    content,
    api: "bench",
    provider: "bench",
    model: "m",
    usage,
    stopReason: "stop",
  };
}

function prose(random: () => number, bytes: number): string {
  let text = "";
  while (text.length < bytes) text += `${WORDS[Math.floor(random() * WORDS.length)]} `;
  return text.trim();
}
