import { type Checkpoint, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { isSessionError } from "sessiontree";
import { claudeSessionStore } from "sessiontree/adapters";
import { SessionTreeSaver } from "sessiontree/langgraph";
import type { SessionStore } from "sessiontree/stores";
import { describe, expect, test } from "vitest";
import { AGENT, MAIN, record } from "./claude-contracts.ts";

/** A storage whose sessions two processes use; `texts` returns everything it stores. */
export interface DeletionPlace {
  readonly ours: SessionStore;
  readonly theirs: SessionStore;
}

/** Numbers of event loop turns after which the deletion starts, tried one after another. */
const DELAYS = Array.from({ length: 24 }, (_, delay) => delay);

const metadata = { source: "loop" as const, step: 1, parents: {} };

const thread = (thread_id: string) => ({ configurable: { thread_id } });

let clock = 0;

/** Writes a checkpoint with a note as a child of a config's checkpoint. */
function put(saver: SessionTreeSaver, config: object, note: unknown) {
  clock++;
  const versions = { note: clock };
  const checkpoint: Checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(clock),
    channel_values: { note },
    channel_versions: versions,
  };
  return saver.put(config, checkpoint, metadata, versions);
}

/** Waits some turns of the event loop, or promise steps for the first ones. */
async function pass(delay: number): Promise<void> {
  for (let turn = 0; turn < delay; turn++)
    await (delay < 12 ? Promise.resolve() : new Promise((resolve) => setImmediate(resolve)));
}

/** Returns the code of a rejection, or undefined if the work succeeds. */
async function catchRefusal(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (!isSessionError(error)) throw error;
    return error.code;
  }
}

async function readNotes(store: SessionStore, id: string): Promise<unknown[]> {
  const notes: unknown[] = [];
  for await (const { checkpoint } of new SessionTreeSaver(store).list(thread(id)))
    notes.push(checkpoint.channel_values["note"]);
  return notes;
}

/** Tests that what another process deletes stays deleted, whatever is being written. */
export function testDeletion(name: string, newPlace: () => DeletionPlace | Promise<DeletionPlace>): void {
  describe(`deletion by another process, ${name}`, () => {
    test("does not recreate a LangGraph thread during a put", async () => {
      const { ours, theirs } = await newPlace();
      const [saver, other] = [new SessionTreeSaver(ours), new SessionTreeSaver(theirs)];
      for (const delay of DELAYS) {
        const id = `t${delay}`;
        const first = await put(saver, thread(id), "secret");
        const config = await put(saver, first, "second");
        const putting = catchRefusal(put(saver, config, "late"));
        const writing = catchRefusal(saver.putWrites(config, [["note", "late"]], "task"));
        await pass(delay);
        await other.deleteThread(id);
        expect([undefined, "SESSION_NOT_FOUND"]).toContain(await putting);
        expect([undefined, "SESSION_NOT_FOUND"]).toContain(await writing);
        expect(await readNotes(theirs, id)).toEqual([]);
      }
      expect(await listIds(theirs)).toEqual([]);
      await Promise.all([ours.close(), theirs.close()]);
    });

    test("gives a restarted LangGraph thread nothing of earlier runs", async () => {
      const { ours, theirs } = await newPlace();
      const [saver, other] = [new SessionTreeSaver(ours), new SessionTreeSaver(theirs)];
      for (const delay of DELAYS) {
        const id = `t${delay}`;
        const config = await put(saver, thread(id), "secret");
        const putting = catchRefusal(put(saver, config, "secret, too"));
        const inner = { configurable: { thread_id: id, checkpoint_ns: "inner" } };
        await pass(delay);
        await other.deleteThread(id);
        await put(other, thread(id), "fresh");
        expect([undefined, "SESSION_NOT_FOUND"]).toContain(await putting);
        expect(await catchRefusal(put(saver, config, "late"))).toBe("SESSION_NOT_FOUND");
        expect(await catchRefusal(saver.putWrites(config, [["note", "late"]], "task"))).toBe(
          "SESSION_NOT_FOUND",
        );
        const parents = { "": String(config.configurable?.["checkpoint_id"]) };
        const late = { ...emptyCheckpoint(), id: uuid6(++clock), channel_values: { note: "late" } };
        const putInner = () => saver.put(inner, late, { ...metadata, parents }, { note: 1 });
        expect(await catchRefusal(putInner())).toBe("SESSION_NOT_FOUND");
        expect(await readNotes(theirs, id)).toEqual(["fresh"]);
        await other.deleteThread(id);
        expect(await catchRefusal(putInner())).toBe("SESSION_NOT_FOUND");
        expect(await listIds(theirs)).toEqual([]);
      }
      await Promise.all([ours.close(), theirs.close()]);
    });

    test("makes one session of a LangGraph thread that two processes start at once", async () => {
      const { ours, theirs } = await newPlace();
      const savers = [new SessionTreeSaver(ours), new SessionTreeSaver(theirs)];
      for (const id of ["a", "b", "c"]) {
        await Promise.all(savers.map((saver, at) => put(saver, thread(id), at)));
        expect((await readNotes(ours, id)).sort()).toEqual([0, 1]);
      }
      expect(await listIds(ours)).toHaveLength(3);
      await Promise.all([ours.close(), theirs.close()]);
    });

    test("neither recreates a Claude transcript nor leaves one that no list names", async () => {
      const { ours, theirs } = await newPlace();
      const [store, other] = [claudeSessionStore(ours), claudeSessionStore(theirs)];
      for (const delay of DELAYS) {
        await store.append(MAIN, [record(`secret${delay}`)]);
        await store.append(AGENT, [record(`secret${delay}`)]);
        const other1 = { ...AGENT, subpath: `subagents/agent-${delay}` };
        const appending = [MAIN, AGENT, other1].map((key) =>
          catchRefusal(store.append(key, [record(`late${delay}`)])),
        );
        await pass(delay);
        await other.delete(MAIN);
        expect(await Promise.all(appending)).toEqual([undefined, undefined, undefined]);
        const [main, agent, another] = await Promise.all([MAIN, AGENT, other1].map((key) => other.load(key)));
        for (const records of [main, agent, another])
          expect(records === null || records?.map(({ uuid }) => uuid)).not.toContain(`secret${delay}`);
        const listed = await other.listSessions(MAIN.projectKey);
        expect(listed).toHaveLength(main === null ? 0 : 1);
        await other.delete(MAIN);
        // Only the project's index is left.
        expect(await listIds(theirs)).toHaveLength(1);
      }
      await Promise.all([ours.close(), theirs.close()]);
    });
  });
}

async function listIds(store: SessionStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of store.list()) ids.push(id);
  return ids;
}
