import { describe, test } from "vitest";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { memoryStore, remoteStore } from "../../../src/stores/remote/remote-store.ts";
import { faultyBackend } from "../../../src/stores/suite/faulty-backend.ts";
import { sessionStoreSuite } from "../../../src/stores/suite/store-suite.ts";

/** Options for retrying without a delay and giving up soon. */
const QUICK = { minRetryMs: 1, maxRetryMs: 2, pollMs: 5 };

describe("memoryStore", () => {
  sessionStoreSuite({
    test,
    factory: () => ({ store: memoryStore() }),
    without: ["another", "backend", "faults"],
  });
});

describe("remoteStore over memory", () => {
  sessionStoreSuite({
    test,
    factory: () => {
      const memory = new MemoryBackend();
      const { backend, faults } = faultyBackend(memory);
      const store = remoteStore(backend, QUICK);
      return { store, another: () => remoteStore(memory, QUICK), backend: memory, faults };
    },
  });
});
