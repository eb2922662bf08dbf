/**
 * A process that writes to threads and chats, or deletes them: node deletion-child.mjs TASK FOLDER NAME SEED
 *
 * It reports the beginning of each operation, and each acknowledgment, in one write that is complete when the call returns.
 */
import { writeSync } from "node:fs";
import { setTimeout as after, setImmediate as nextTurn } from "node:timers/promises";
import { type Checkpoint, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { isSessionError, type SessionManager } from "sessiontree";
import { saveChat } from "sessiontree/adapters";
import { SessionTreeSaver } from "sessiontree/langgraph";
import { fileStore } from "sessiontree/stores";
import { CHATS, type DeletionEvent, THREADS } from "./deletion-events.ts";

const [task = "", sessionDir = "", name = "", seed = "1"] = process.argv.slice(2);
const store = fileStore({ sessionDir, deletesForGood: true });
const saver = new SessionTreeSaver(store);
const metadata = { source: "loop" as const, step: 1, parents: {} };

let isOver = false;
process.stdin.on("end", () => {
  isOver = true;
});
process.stdin.resume();

let count = 0;
let state = Number(seed);

/** Returns the next number below `limit`; the same sequence for the same seed. */
function random(limit: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

/** Returns the time on the clock that all processes of the machine share. */
const now = (): number => Number(process.hrtime.bigint() / 1_000n);

function tell(event: DeletionEvent): void {
  writeSync(1, `${JSON.stringify(event)}\n`);
}

const pick = (names: readonly string[]): string => names[random(names.length)] ?? "";

/** Writes a text to a place; reports the beginning and the acknowledgment. Places deleted in the meantime reject it. */
async function write(place: string, how: (text: string) => Promise<unknown>): Promise<boolean> {
  const text = `secret-${name}-${count++} `;
  const from = now();
  try {
    await how(text);
    tell({ place, text, from, until: now() });
    return true;
  } catch (error) {
    if (!isSessionError(error, "SESSION_NOT_FOUND")) throw error;
    tell({ refused: place });
    return false;
  }
}

/** Stores checkpoints and writes in a chain, as the run of a graph does that began with the existing ones. */
async function runGraph(): Promise<void> {
  const threadId = pick(THREADS);
  const latest = await saver.getTuple({ configurable: { thread_id: threadId } });
  let config: object = latest?.config ?? { configurable: { thread_id: threadId } };
  let values: Record<string, unknown> = latest?.checkpoint.channel_values ?? {};
  let version = Number(latest?.checkpoint.channel_versions["texts"] ?? 0);
  for (let step = random(6); step >= 0; step--) {
    const isKept = await write(threadId, async (text) => {
      const texts = [...(Array.isArray(values["texts"]) ? values["texts"] : []), text];
      values = { texts };
      const versions = { texts: ++version };
      const checkpoint: Checkpoint = {
        ...emptyCheckpoint(),
        id: uuid6(step),
        channel_values: values,
        channel_versions: versions,
      };
      config = await saver.put(config, checkpoint, metadata, versions);
    });
    if (!isKept) return;
    await write(threadId, (text) => saver.putWrites(config, [["texts", text]], `task${step}`));
  }
}

async function openChat(id: string): Promise<SessionManager> {
  try {
    return await store.open(id);
  } catch (error) {
    if (!isSessionError(error, "SESSION_NOT_FOUND")) throw error;
  }
  try {
    return store.create({ cwd: "/chats", id, createAtOnce: true });
  } catch (error) {
    if (!isSessionError(error, "SESSION_EXISTS")) throw error;
    return openChat(id);
  }
}

/** Saves a chat that grows, through a session that this process holds. */
async function chat(): Promise<void> {
  const id = pick(CHATS);
  const session = await openChat(id);
  const messages: { id: string; role: "user"; parts: { type: "text"; text: string }[] }[] = [];
  for (let turn = random(6); turn >= 0; turn--) {
    const isKept = await write(id, (text) => {
      messages.push({ id: text, role: "user", parts: [{ type: "text", text }] });
      return saveChat(session, messages);
    });
    if (!isKept) break;
  }
  await session.close();
}

async function remove(): Promise<void> {
  await after(10 + random(60));
  const place = pick([...THREADS, ...CHATS]);
  tell({ deleting: place, from: now() });
  try {
    await (THREADS.includes(place) ? saver.deleteThread(place) : store.delete(place));
  } catch (error) {
    if (!isSessionError(error, "SESSION_NOT_FOUND")) throw error;
  }
  tell({ deleted: place, until: now() });
}

const TASKS: { readonly [task: string]: () => Promise<void> } = { graph: runGraph, chat, delete: remove };

while (!isOver) {
  try {
    await TASKS[task]?.();
  } catch (error) {
    // While a killed process's lock exists.
    if (!isSessionError(error, "WRITE_FAILED") && !isSessionError(error, "LEASE_HELD")) throw error;
    tell({ failed: error.message });
    await after(20);
  }
  await nextTurn();
}
await store.close();
process.exit(0);
