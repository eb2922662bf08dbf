import { describe, expect, test } from "vitest";
import type { SearchInStoreOptions } from "../../../src/stores/contract/session-store.ts";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { remoteStore } from "../../../src/stores/remote/remote-store.ts";
import { cut } from "../../../src/stores/suite/kit.ts";
import { all, Chain, header } from "../../catalog/support/sessions.ts";

/** Records whose lines are read, and can act before that. */
class WatchedBackend extends MemoryBackend {
  readonly reads: string[] = [];
  beforeRead: (id: string) => unknown = () => undefined;

  override async read(...given: Parameters<MemoryBackend["read"]>) {
    this.reads.push(given[0]);
    await this.beforeRead(given[0]);
    return super.read(...given);
  }
}

/** Twenty sessions with failures; one with zebras, and one that works on them. */
async function scene() {
  const backend = new WatchedBackend();
  const store = remoteStore(backend, { minRetryMs: 1, maxRetryMs: 2, giveUpAfterMs: 50 });
  for (let i = 0; i < 20; i++) {
    const id = `s${String(i).padStart(2, "0")}`;
    const file = i === 7 ? "zebra.ts" : "horse.ts";
    const call = { type: "toolCall", id: "c1", name: "edit", arguments: { path: `src/${file}` } };
    const chain = new Chain(header({ id, cwd: i === 9 ? "/zoo/zebra.ts" : "/zoo" }))
      .user(i === 7 ? "The zebra_7 ran, a striped horse" : `horse ${i}`)
      .message({ role: "assistant", content: [call] })
      .message({ role: "toolResult", toolCallId: "c1", toolName: "edit", content: "refused", isError: true });
    await store.importBytes(cut(Buffer.from(chain.text), 1_000));
  }
  const find = async (query: string, options: SearchInStoreOptions = {}) => {
    backend.reads.length = 0;
    const hits = await all(store.search(query, options));
    return {
      hits: hits.map(({ session, entryId }) => `${session.id}.${Number.parseInt(entryId, 16)}`),
      read: [...new Set(backend.reads)].sort(),
    };
  };
  return { backend, store, find };
}

describe("sessions are not read in full", () => {
  test.each<[string, SearchInStoreOptions, string[], string[]]>([
    ["zebra_\\d+", { regex: true }, ["s07.1"], ["s07"]],
    ["^the .*zebra", { regex: true }, ["s07.1"], ["s07"]],
    ["unheard.of", { regex: true }, [], []],
    ["ZEBRA", { failed: true }, ["s07.3"], ["s07"]],
    ["unheard", { failed: true }, [], []],
    ["zebra.*", { failed: true, regex: true, tools: ["none"] }, [], []],
    ["", { path: "src/zebra.ts" }, ["s07.2", "s07.3"], ["s07", "s09"]],
    ["striped zebra", { match: "any" }, ["s07.1", "s07.2"], ["s07"]],
    ["unheard of", { match: "any" }, [], []],
    ["the zebra", { match: "any", limit: 1 }, ["s07.1"], ["s07"]],
  ])("for %j with %j", async (query, options, hits, read) => {
    const { find } = await scene();
    const found = await find(query, options);
    expect(found.hits.sort()).toEqual(hits);
    expect(found.read).toEqual(read);
  });

  test.each<[string, SearchInStoreOptions, number]>([
    ["zebra_|never", { regex: true }, 1],
    ["[z]ebra_", { regex: true }, 1],
    ["(zebra)_", { regex: true }, 1],
    ["", { failed: true }, 20],
    ["refused", { failed: true }, 20],
    ['"striped horse" zebra', { match: "any" }, 1],
  ])("unless only they can answer, as for %j with %j", async (query, options, count) => {
    const { find } = await scene();
    const found = await find(query, options);
    expect(found.hits).toHaveLength(count);
    expect(found.read.length).toBeGreaterThan(0);
  });
});

describe("a question", () => {
  test("is answered if it is long, of other scripts, or of nothing but quotes, stop words, or symbols", async () => {
    const { find } = await scene();
    const long = Array.from({ length: 2_000 }, (_, i) => `w${i % 1_000}`).join(" ");
    expect((await find(`a zebra ${long}`, { match: "any" })).hits).toEqual(["s07.1", "s07.2"]);
    for (const question of [
      "",
      '"',
      '"" ""',
      "?!",
      "🙂",
      "\ud83d",
      "日本語",
      "\u0000",
      "%",
      "\\",
      "' or 'x'='x",
    ])
      expect((await find(question, { match: "any" })).hits, question).toEqual([]);
    // Symbols are searched for literally.
    expect((await find("_", { match: "any" })).hits).toEqual(["s07.1"]);
    expect((await find("the", { match: "any" })).hits).toEqual(["s07.1"]);
    expect((await find("a b zebra c d 7", { match: "any" })).hits).toContain("s07.1");
  });

  test("with an expression or case is refused, as are invalid options", async () => {
    const { store } = await scene();
    const wrong: object = { match: "most" };
    for (const options of [
      { match: "any" as const, regex: true },
      { match: "any" as const, caseSensitive: true },
      wrong,
    ])
      await expect(all(store.search("zebra", options))).rejects.toThrow(TypeError);
    await expect(all(store.search("zebra", { match: "any", limit: Number.NaN }))).rejects.toThrow(TypeError);
    expect(await all(store.search("zebra", { match: "any", limit: 0 }))).toEqual([]);
  });

  test("has no hits in a session that is deleted before it is read, and has those of others", async () => {
    const { backend, store } = await scene();
    backend.beforeRead = async (id) => {
      backend.beforeRead = () => undefined;
      await backend.delete(id);
    };
    const hits = await all(store.search("striped horse", { match: "any", limit: 30 }));
    expect(hits.length).toBeGreaterThan(15);
    expect(hits.map(({ session }) => session.id)).not.toContain(backend.reads[0]);
  });

  test("ends with ABORTED at every step", async () => {
    const { store } = await scene();
    const outcomeAt = async (step: number) => {
      let looks = 0;
      const { signal } = new AbortController();
      Object.defineProperty(signal, "aborted", { get: () => ++looks >= step });
      const outcome = await all(store.search("striped zebra", { match: "any", signal })).then(
        (hits) => hits.length,
        (error: unknown) => Object(error).code,
      );
      return { looks, outcome };
    };
    for (let step = 1; ; step++) {
      const { looks, outcome } = await outcomeAt(step);
      expect(outcome).toBe(looks < step ? 2 : "ABORTED");
      if (looks >= step) continue;
      expect(step).toBeGreaterThan(4);
      break;
    }
  });
});
