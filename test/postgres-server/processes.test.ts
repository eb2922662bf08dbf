import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { beforeAll, expect, test } from "vitest";
import { migrateDatabase } from "../../src/stores/postgres/migrate.ts";
import { postgresStore } from "../../src/stores/postgres/open-postgres-store.ts";
import { PostgresBackend } from "../../src/stores/postgres/postgres-backend.ts";
import { cluster } from "./support/cluster.ts";
import { expectSound, readEntries } from "./support/session-checks.ts";

const place = cluster();

beforeAll(() => migrateDatabase({ client: place.pool() }));

const script = new URL("./support/writer.ts", import.meta.url).pathname;

/** A process that appends on request. */
interface Writer {
  readonly isReady: Promise<unknown>;
  /** Starts the appends. */
  begin(): void;
  /** Its report of the branch that it has created. */
  readonly ended: Promise<{ readonly branch: number; readonly leaf: string }>;
}

function startWriter(...args: string[]): Writer {
  const child = spawn(process.execPath, ["--import", "tsx", script, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const output = createInterface(child.stdout);
  output.on("line", (line) => lines.push(line));
  const ended = once(child, "close").then(([code]) => {
    if (code !== 0) throw new Error(`a writer ended with ${code}`);
    return JSON.parse(lines.at(-1) ?? "");
  });
  return { isReady: Promise.race([once(output, "line"), ended]), begin: () => child.stdin.end(), ended };
}

const PROCESSES = 16;
const APPENDS = 250;

test("16 processes append to one session: all 4,000 entries exist, in one order, with every path complete", async () => {
  const store = postgresStore({ client: place.pool() });
  const session = store.create({ cwd: "/project", createAtOnce: true });
  const root = session.appendMessage({ role: "user", content: "root", timestamp: 0 });
  await session.flush();
  const id = session.getSessionId();

  const names = Array.from({ length: PROCESSES }, (_, i) => `p${i}`);
  const writers = names.map((name) => startWriter(place.server.url(), id, name, String(APPENDS)));
  await Promise.all(writers.map(({ isReady }) => isReady));
  for (const { begin } of writers) begin();
  const ended = await Promise.all(writers.map((writer) => writer.ended));

  const entries = await readEntries(new PostgresBackend({ client: place.pool() }), id);
  expect(entries).toHaveLength(PROCESSES * APPENDS + 1);
  expectSound(entries);
  for (const name of names) {
    const own = entries.filter(({ content }) => content.startsWith(`${name} `));
    expect(own.map(({ content }) => content)).toEqual(
      Array.from({ length: APPENDS }, (_, n) => `${name} ${n}`),
    );
  }
  const contents = entries.map(({ content }) => content.split(" ")[0]);
  const changes = contents.filter((name, i) => name !== contents[i - 1]);
  // They wrote at the same time, not one after another.
  expect(changes.length).toBeGreaterThan(2 * PROCESSES);

  const [one, other] = [await store.open(id), await postgresStore({ client: place.pool() }).open(id)];
  expect(one.getEntries().map((entry) => entry.id)).toEqual(entries.map((entry) => entry.id));
  expect(other.getEntries().map((entry) => entry.id)).toEqual(entries.map((entry) => entry.id));
  expect(one.issues).toEqual([]);
  for (const { leaf, branch } of ended) {
    const path = one.getBranch(leaf);
    expect(path).toHaveLength(branch);
    expect(path[0]?.id).toBe(root);
  }
});
