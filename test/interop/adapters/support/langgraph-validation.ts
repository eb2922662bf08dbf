import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { SessionTreeSaver } from "sessiontree/langgraph";
import type { SessionStore } from "sessiontree/stores";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

/** Runs the public suite for checkpointers, including its checks of channels that keep writes alone. */
export function validateSaver(name: string, newStore: () => SessionStore | Promise<SessionStore>): void {
  // The suite uses the runner's functions from the global scope, where this project does not define them.
  for (const [key, value] of Object.entries({
    afterAll,
    afterEach,
    beforeAll,
    beforeEach,
    describe,
    expect,
    it,
  }))
    vi.stubGlobal(key, value);
  const stores = new Map<BaseCheckpointSaver, SessionStore>();
  const initializer = {
    checkpointerName: name,
    createCheckpointer: async () => {
      const store = await newStore();
      const saver = new SessionTreeSaver(store);
      stores.set(saver, store);
      return saver;
    },
    destroyCheckpointer: (saver: BaseCheckpointSaver) => stores.get(saver)?.close(),
  };
  validate(initializer);
  deltaChannelHistoryTests(initializer);
  afterAll(() => vi.unstubAllGlobals());
}
