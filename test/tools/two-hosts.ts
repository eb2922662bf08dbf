/**
 * Demonstrates two hosts with one session: starts a real PostgreSQL server, lets two processes continue the same session on
 * different branches, kills the server once in the meantime, and checks that nothing is missing.
 *
 * npx tsx test/tools/two-hosts.ts [--keep]   With --keep the server continues running, and its address is printed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type AnySessionEntry, SessionManager } from "sessiontree";
import { openPostgresStore } from "sessiontree/postgres";
import { type Server, startServer } from "../postgres-server/support/server.ts";

const MESSAGES = 40;

/** Runs a host: continues the session after an entry, and prints each entry once it is in the database. */
async function beHost(name: string, url: string, id: string, from: string): Promise<void> {
  const store = await openPostgresStore(url);
  const session = await store.open(id);
  session.branch(from);
  for (let n = 1; n <= MESSAGES; n++) {
    const entry = session.appendMessage({
      role: "user",
      content: `${name}, step ${n}`,
      timestamp: Date.now(),
    });
    await session.flush();
    console.log(entry);
  }
  await store.close();
}

/** A host in a separate process. */
interface Host {
  readonly name: string;
  /** Ids of the entries that were reported as stored. */
  readonly acknowledged: string[];
  readonly ended: Promise<void>;
}

function startHost(name: string, ...args: string[]): Host {
  const script = fileURLToPath(import.meta.url);
  const child: ChildProcess = spawn(process.execPath, ["--import", "tsx", script, "host", name, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const acknowledged: string[] = [];
  if (child.stdout !== null) createInterface(child.stdout).on("line", (line) => acknowledged.push(line));
  const ended = new Promise<void>((resolve, reject) => {
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`${name} ended with ${code}`))));
  });
  return { name, acknowledged, ended };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

function check(isTrue: boolean, what: string): void {
  console.log(`${isTrue ? "yes" : "NO "}  ${what}`);
  if (!isTrue) process.exitCode = 1;
}

const getContentText = (entry: AnySessionEntry | undefined) =>
  entry?.type === "message" && "message" in entry
    ? JSON.stringify(Object(entry.message).content)
    : entry?.type;

/** Prints the tree, each run of entries without a fork on one line. */
function showTree(session: SessionManager): void {
  const pending = session.getTree().map((node) => ({ node, depth: 0 }));
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node: first, depth } = next;
    let [last, count] = [first, 1];
    for (
      let only = last.children[0];
      last.children.length === 1 && only !== undefined;
      only = last.children[0]
    ) {
      [last, count] = [only, count + 1];
    }
    const run = count === 1 ? "" : ` … ${getContentText(last.entry)} (${count} entries)`;
    console.log(`${"   ".repeat(depth)}└─ ${getContentText(first.entry)}${run}`);
    pending.push(...last.children.map((node) => ({ node, depth: depth + 1 })));
  }
}

/** Copies the session to a file, and compares its context there with that in the store. */
function compareWithFile(session: SessionManager, bytes: Uint8Array, leaves: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-two-hosts-"));
  const path = join(folder, "exported.jsonl");
  writeFileSync(path, bytes);
  const file = SessionManager.open(path);
  for (const leaf of leaves) {
    session.branch(leaf);
    file.branch(leaf);
    const [here, there] = [session, file].map((one) => JSON.stringify(one.buildSessionContext()));
    check(
      here === there,
      `at ${getContentText(session.getEntry(leaf))} the exported file gives the same context`,
    );
  }
  rmSync(folder, { recursive: true });
}

async function show(server: Server): Promise<void> {
  const store = await openPostgresStore(server.url(), { migrate: true });
  const begun = store.create({ cwd: "/project", createAtOnce: true });
  const from = begun.appendMessage({ role: "user", content: "Two ways are open.", timestamp: Date.now() });
  await begun.close();
  const id = begun.getSessionId();

  const hosts = ["left host", "right host"].map((name) => startHost(name, server.url(), id, from));
  await until(() => hosts.every(({ acknowledged }) => acknowledged.length >= MESSAGES / 4));
  await server.stop("immediate");
  const counts = hosts.map(({ acknowledged }) => acknowledged.length);
  console.log(
    `The server was killed when ${counts.join(" and ")} entries were acknowledged; it starts again.`,
  );
  await server.start();
  await Promise.all(hosts.map(({ ended }) => ended));

  const session = await store.open(id);
  showTree(session);
  for (const { name, acknowledged } of hosts) {
    const leaf = acknowledged.at(-1);
    const path = session.getBranch(leaf).map((entry) => entry.id);
    const isWhole = path.join() === [from, ...acknowledged].join() && acknowledged.length === MESSAGES;
    check(isWhole, `${name}: all ${MESSAGES} entries are there, in one path, in order`);
  }
  const all = session.getEntries().map((entry) => entry.id);
  check(
    new Set(all).size === all.length && all.length === 2 * MESSAGES + 1,
    "nothing is there twice, and nothing else",
  );
  check(session.issues.length === 0, "the session has no issues");
  const pieces: Uint8Array[] = [];
  for await (const piece of store.exportBytes(id)) pieces.push(piece.slice());
  compareWithFile(
    session,
    Buffer.concat(pieces),
    hosts.flatMap(({ acknowledged }) => acknowledged.slice(-1)),
  );
  await store.close();
  if (process.argv.includes("--keep")) console.log(`sessiontree tree --store ${server.url()} ${id}`);
}

/** Waits for Ctrl+C. */
function interrupted(): Promise<void> {
  console.log("The server goes on until Ctrl+C.");
  const alive = setInterval(() => undefined, 60_000);
  return new Promise((resolve) => {
    process.once("SIGINT", () => {
      clearInterval(alive);
      resolve();
    });
  });
}

const [role, ...args] = process.argv.slice(2);
if (role === "host") {
  const [name = "", url = "", id = "", from = ""] = args;
  await beHost(name, url, id, from);
} else {
  const server = await startServer();
  try {
    await show(server);
    if (process.argv.includes("--keep")) await interrupted();
  } finally {
    await server.remove();
  }
}
