import type { SessionStore } from "sessiontree/stores";
import { expect, test } from "vitest";
import { Children } from "../../../fault/support/children.ts";
import { CART, clerk, readStates, texts } from "./clerk.ts";

/** A storage that processes share: a folder, or the address of a database. */
interface SharedPlace {
  readonly address: string;
  readonly openStore: () => SessionStore;
}

/** Tests that a graph continues in other processes after one was killed within a tool and one at an interrupt. */
export function testOtherProcesses(newPlace: () => SharedPlace | Promise<SharedPlace>): void {
  const children = new Children("interop/adapters/support/graph-child.ts");

  test("resumes a graph in another process after kills within a tool and at an interrupt", async () => {
    const { address, openStore } = await newPlace();
    const reading = children.start("begin", [address]);
    expect(await reading.hear()).toBe("reading");
    reading.process.kill("SIGKILL");
    expect(await reading.ended).toBe("SIGKILL");

    const asking = children.start("continue", [address]);
    const interrupted = toArray(await asking.hear());
    expect(interrupted.length).toBeGreaterThan(2);
    asking.process.kill("SIGKILL");
    expect(await asking.ended).toBe("SIGKILL");

    const resuming = children.start("resume", [address]);
    const done = await resuming.hear();
    resuming.dismiss();
    expect(await resuming.ended).toBe(0);

    const store = openStore();
    const graph = clerk(store);
    expect(await readStates(graph)).toEqual(done);
    // The state at the interrupt is complete, as the killed process reported it.
    expect(done).toEqual(expect.arrayContaining(interrupted.slice(1)));
    const { values, next } = await graph.getState(CART);
    expect(texts(values.messages)).toEqual([
      "Why is the cart empty?",
      "",
      "text of a",
      "It is about carts.",
      "Done: yes",
    ]);
    expect([values.approved, next]).toEqual(["yes", []]);
    await store.close();
  });
}

function toArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
