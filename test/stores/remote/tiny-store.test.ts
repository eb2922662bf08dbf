import { readFileSync } from "node:fs";
import { remoteStore } from "sessiontree/stores";
import { faultyBackend, sessionStoreSuite } from "sessiontree/testing";
import { describe, expect, test } from "vitest";
import { tinyBackend } from "../support/tiny-backend.ts";

const QUICK = { minRetryMs: 1, maxRetryMs: 2, pollMs: 5 };

describe("the backend of docs/stores.md", () => {
  test("is the one that is tested here, and complete in 50 lines", () => {
    const source = readFileSync(new URL("../support/tiny-backend.ts", import.meta.url), "utf8");
    expect(readFileSync(new URL("../../../docs/stores.md", import.meta.url), "utf8")).toContain(source);
    expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(50);
  });

  sessionStoreSuite({
    test,
    factory: () => {
      const inner = tinyBackend();
      const { backend, faults } = faultyBackend(inner);
      return {
        store: remoteStore(backend, QUICK),
        another: () => remoteStore(inner, QUICK),
        backend: inner,
        faults,
      };
    },
  });
});
