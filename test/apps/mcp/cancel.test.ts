import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { recallServer } from "../../../src/apps/mcp/recall-server.ts";
import { makeAbortedError } from "../../../src/core/format/abort.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";

test("a canceled call aborts its work in the store", async () => {
  const begun: AbortSignal[] = [];
  const store = Object.assign(memoryStore(), {
    search: (_query: string, { signal }: { signal?: AbortSignal } = {}) => {
      if (signal === undefined) throw new Error("the search cannot be ended");
      begun.push(signal);
      const end = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(makeAbortedError("ended"))),
      );
      return { [Symbol.asyncIterator]: () => ({ next: () => end }) };
    },
  });
  const server = await recallServer({ cwd: "/", env: {}, store });
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  const controller = new AbortController();
  const call = client.callTool(
    { name: "search_sessions", arguments: { query: "tulips" } },
    { signal: controller.signal },
  );
  const refused = expect(call).rejects.toThrow();
  await expect.poll(() => begun.length).toBe(1);
  controller.abort();
  await refused;
  await expect.poll(() => begun[0]?.aborted).toBe(true);
  await client.close();
});
