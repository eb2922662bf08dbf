import { afterEach, expect, test, vi } from "vitest";
import type { PostgresEmbedded } from "../../../src/stores/postgres/client.ts";
import { Listener } from "../../../src/stores/postgres/listener.ts";

afterEach(() => vi.useRealTimers());

/** A database in which listening always works. */
const client: PostgresEmbedded = {
  query: async () => ({ rows: [] }),
  transaction: async (run) => run(client),
  listen: async () => async () => undefined,
};

const notify = async () => undefined;

test("renews watches repeatedly, and retries a failed renewal", async () => {
  vi.useFakeTimers();
  const marked: string[][] = [];
  let isDown = false;
  const mark = async (payloads: readonly string[]) => {
    if (isDown) throw new Error("no connection");
    marked.push([...payloads]);
  };
  const listener = new Listener({ client, channel: "c", mark, notify });
  const [one, two] = [new AbortController(), new AbortController()];
  const told: string[] = [];
  await listener.add("1", () => told.push("1"), one.signal);
  await listener.add("2", () => told.push("2"), two.signal);
  expect(marked).toEqual([["1"], ["2"]]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(marked.at(-1)).toEqual(["1", "2"]);
  expect(told).toEqual([]);

  isDown = true;
  await vi.advanceTimersByTimeAsync(60_000);
  one.abort();
  isDown = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(marked).toHaveLength(4);
  expect(marked.at(-1)).toEqual(["2"]);
  expect(told).toEqual(["2"]);

  two.abort();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(marked).toHaveLength(4);
  expect(vi.getTimerCount()).toBe(0);
});

test("a connection that cannot stop listening does not affect a caller that stops watching", async () => {
  let stops = 0;
  const listen = async () => async () => {
    stops++;
    throw new Error("the connection was lost");
  };
  const listener = new Listener({
    client: { ...client, listen },
    channel: "c",
    mark: async () => undefined,
    notify,
  });
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  const end = new AbortController();
  await listener.add("1", () => undefined, end.signal);
  end.abort();
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect([stops, unhandled]).toEqual([1, []]);
});

test("closing waits for a connection that is being made, unless it is no longer needed", async () => {
  let open: (stop: () => Promise<void>) => void = () => undefined;
  const listen = () =>
    new Promise<() => Promise<void>>((resolve) => {
      open = resolve;
    });
  const steps: string[] = [];
  const listener = new Listener({
    client: { ...client, listen },
    channel: "c",
    mark: async () => undefined,
    notify,
  });
  const adding = listener.add("1", () => undefined, new AbortController().signal);
  await listener.close({ discard: true });
  open(async () => {
    steps.push("stopped");
  });
  await adding;
  expect(steps).toEqual(["stopped"]);

  const another = listener.add("2", () => undefined, new AbortController().signal);
  const closed = listener.close().then(() => steps.push("closed"));
  open(async () => {
    steps.push("stopped");
  });
  await Promise.all([another, closed]);
  expect(steps).toEqual(["stopped", "stopped", "closed"]);
});
