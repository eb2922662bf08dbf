import { type SessionHookEvents, type SessionHookResults, SessionHooks } from "sessiontree/controller";
import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { PATIENCE_MS } from "../../support/patience.ts";
import { deferred, rejection } from "./support/stage.ts";

const NEW = { reason: "new" } as const;

function treeEvent(userWantsSummary: boolean): SessionHookEvents["session_before_tree"] {
  return {
    preparation: {
      targetId: "a",
      oldLeafId: "b",
      commonAncestorId: null,
      entriesToSummarize: [],
      userWantsSummary,
    },
    signal: new AbortController().signal,
  };
}

test.each(["on", "emit"] as const)("`%s` names the hook that was probably meant", async (method) => {
  const hooks = new SessionHooks();
  const refused = expect(
    (async () => Reflect.apply(hooks[method], hooks, ["session_compactt", () => undefined]))(),
  ).rejects;
  await refused.toThrow(TypeError);
  await refused.toThrow(
    'Unknown event "session_compactt"; did you mean "session_compact"? The events are "session_start", ',
  );
});

describe("handlers", () => {
  test("run sequentially, in the order of registration, and are awaited", async () => {
    const hooks = new SessionHooks();
    const steps: string[] = [];
    const slow = deferred<void>();
    hooks.on("session_start", async () => {
      steps.push("first begins");
      await slow.promise;
      steps.push("first ends");
    });
    hooks.on("session_start", () => {
      steps.push("second");
    });
    const emitting = hooks.emit("session_start", { reason: "startup" });
    await Promise.resolve();
    expect(steps).toEqual(["first begins"]);
    slow.resolve();
    await emitting;
    expect(steps).toEqual(["first begins", "first ends", "second"]);
  });

  test("receive the event as it was emitted", async () => {
    const hooks = new SessionHooks();
    const handler = vi.fn();
    hooks.on("session_info_changed", handler);
    const event = { name: "n" };
    await hooks.emit("session_info_changed", event);
    expect(handler.mock.calls).toEqual([[event]]);
  });

  test("are removed by the function that `on` returned, each registration separately", async () => {
    const hooks = new SessionHooks();
    const handler = vi.fn();
    const remove = hooks.on("session_start", handler);
    hooks.on("session_start", handler);
    await hooks.emit("session_start", { reason: "startup" });
    expect(handler).toHaveBeenCalledTimes(2);
    remove();
    remove();
    await hooks.emit("session_start", { reason: "startup" });
    expect(handler).toHaveBeenCalledTimes(3);
  });

  test("may be added and removed during an event: a removed one is not called, an added one is called next time", async () => {
    const hooks = new SessionHooks();
    const late = vi.fn();
    const gone = vi.fn();
    hooks.on("session_start", () => {
      remove();
      hooks.on("session_start", late);
    });
    const remove = hooks.on("session_start", gone);
    await hooks.emit("session_start", { reason: "startup" });
    expect(gone).not.toHaveBeenCalled();
    expect(late).not.toHaveBeenCalled();
    await hooks.emit("session_start", { reason: "startup" });
    expect(late).toHaveBeenCalledTimes(1);
  });

  test("that throw or reject are reported, and have no result", async () => {
    const onError = vi.fn();
    const hooks = new SessionHooks({ onError });
    const [thrown, rejected] = [new Error("thrown"), new Error("rejected")];
    hooks.on("session_before_switch", () => ({ cancel: false }));
    hooks.on("session_before_switch", () => {
      throw thrown;
    });
    hooks.on("session_before_switch", async () => {
      throw rejected;
    });
    expect(await hooks.emit("session_before_switch", NEW)).toEqual({ cancel: false });
    expect(onError.mock.calls).toEqual([
      [thrown, "session_before_switch"],
      [rejected, "session_before_switch"],
    ]);
  });

  test("that throw become process warnings, unless a reporter is set", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
    const hooks = new SessionHooks();
    hooks.on("session_shutdown", () => {
      throw new Error("no more");
    });
    await hooks.emit("session_shutdown", { reason: "quit" });
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/"session_shutdown" threw: .*no more/s),
      {
        code: "SESSIONTREE_HOOK",
      },
    );
    warn.mockRestore();
  });

  test("may return a value with a throwing getter: the error is the handler's", async () => {
    const onError = vi.fn();
    const hooks = new SessionHooks({ onError });
    const trap = new Error("no");
    const answer = {
      get cancel(): boolean {
        throw trap;
      },
    };
    hooks.on("session_before_switch", () => ({ cancel: false }));
    hooks.on("session_before_switch", () => answer);
    expect(await hooks.emit("session_before_switch", NEW)).toEqual({ cancel: false });
    expect(onError.mock.calls).toEqual([[trap, "session_before_switch"]]);
  });

  test("are reported by an asynchronous reporter, and its own error is a warning", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
    const hooks = new SessionHooks({ onError: async () => Promise.reject(new Error("the reporter")) });
    hooks.on("session_start", () => {
      throw Object.create(null);
    });
    await hooks.emit("session_start", { reason: "startup" });
    await vi.waitFor(() => expect(warn).toHaveBeenCalledTimes(2), { timeout: PATIENCE_MS });
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      expect.stringContaining("a value that has no text"),
      expect.stringContaining("the reporter"),
    ]);
    warn.mockRestore();
  });

  test("are called even if the error reporter throws, too", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
    const hooks = new SessionHooks({
      onError: () => {
        throw new Error("the reporter");
      },
    });
    const second = vi.fn();
    hooks.on("session_start", () => {
      throw new Error("the handler");
    });
    hooks.on("session_start", second);
    await hooks.emit("session_start", { reason: "startup" });
    expect(second).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      expect.stringContaining("the handler"),
      expect.stringContaining("the reporter"),
    ]);
    warn.mockRestore();
  });
});

describe("results", () => {
  test("are undefined without a handler", async () => {
    const hooks = new SessionHooks();
    hooks.on("session_before_fork", () => undefined);
    hooks.on("session_before_fork", async () => {
      await Promise.resolve();
    });
    expect(await hooks.emit("session_before_fork", { entryId: "a", position: "at" })).toBeUndefined();
  });

  test("that cancel end the event", async () => {
    const hooks = new SessionHooks();
    const third = vi.fn();
    hooks.on("session_before_switch", () => ({ cancel: false }));
    hooks.on("session_before_switch", async () => ({ cancel: true }));
    hooks.on("session_before_switch", third);
    expect(await hooks.emit("session_before_switch", NEW)).toEqual({ cancel: true });
    expect(third).not.toHaveBeenCalled();
  });

  test("are overridden by later ones, entirely; no result overrides nothing", async () => {
    const hooks = new SessionHooks();
    hooks.on("session_before_tree", () => ({ label: "first", customInstructions: "first" }));
    hooks.on("session_before_tree", async () => ({ label: "second" }));
    hooks.on("session_before_tree", () => undefined);
    expect(await hooks.emit("session_before_tree", treeEvent(true))).toEqual({ label: "second" });
  });

  test("with a summary count if one was requested", async () => {
    const hooks = new SessionHooks();
    hooks.on("session_before_tree", () => ({ label: "l" }));
    hooks.on("session_before_tree", () => ({ summary: { summary: "s" } }));
    expect(await hooks.emit("session_before_tree", treeEvent(true))).toEqual({ summary: { summary: "s" } });
    expect(await hooks.emit("session_before_tree", treeEvent(false))).toEqual({ label: "l" });
  });

  test("keep their other fields if the summary does not count", async () => {
    const hooks = new SessionHooks();
    hooks.on("session_before_tree", () => ({ summary: { summary: "s" }, label: "l" }));
    expect(await hooks.emit("session_before_tree", treeEvent(false))).toEqual({ label: "l" });
  });

  test("are ignored for hooks without a result, and stop no handler", async () => {
    const hooks = new SessionHooks();
    const second = vi.fn();
    Reflect.apply(hooks.on, hooks, ["session_start", () => ({ cancel: true })]);
    hooks.on("session_start", second);
    expect(await hooks.emit("session_start", { reason: "startup" })).toBeUndefined();
    expect(second).toHaveBeenCalledTimes(1);
  });

  test("are typed by the hook", () => {
    const hooks = new SessionHooks();
    expectTypeOf(hooks.emit("session_before_tree", treeEvent(true))).resolves.toEqualTypeOf<
      SessionHookResults["session_before_tree"] | undefined
    >();
    expectTypeOf(hooks.emit("session_start", { reason: "startup" })).resolves.toEqualTypeOf<undefined>();
    // @ts-expect-error A switch accepts no summary.
    hooks.on("session_before_switch", () => ({ summary: 1 }));
    // @ts-expect-error There is no such hook.
    expect(() => hooks.on("session_nothing", () => undefined)).toThrow(TypeError);
  });
});

describe("an abort", () => {
  test("ends the wait for a handler, and no later one is called", async () => {
    const hooks = new SessionHooks();
    const second = vi.fn();
    hooks.on("session_before_tree", () => deferred<undefined>().promise);
    hooks.on("session_before_tree", second);
    const abort = new AbortController();
    const emitting = rejection(hooks.emit("session_before_tree", treeEvent(true), abort.signal));
    abort.abort();
    expect(await emitting).toMatchObject({ code: "ABORTED" });
    expect(second).not.toHaveBeenCalled();
  });

  test("before the event calls no handler", async () => {
    const hooks = new SessionHooks();
    const handler = vi.fn();
    hooks.on("session_before_tree", handler);
    const emitting = hooks.emit("session_before_tree", treeEvent(true), AbortSignal.abort());
    expect(await rejection(emitting)).toMatchObject({ code: "ABORTED" });
    expect(handler).not.toHaveBeenCalled();
  });

  test("is not a handler's error, even if the handler throws because of it", async () => {
    const onError = vi.fn();
    const hooks = new SessionHooks({ onError });
    const abort = new AbortController();
    hooks.on("session_before_tree", () => {
      abort.abort();
      throw new Error("stopped");
    });
    const emitting = hooks.emit("session_before_tree", treeEvent(true), abort.signal);
    expect(await rejection(emitting)).toMatchObject({ code: "ABORTED" });
    expect(onError).not.toHaveBeenCalled();
  });
});
