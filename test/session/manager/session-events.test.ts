import { SessionManager } from "sessiontree";
import { afterEach, expect, test, vi } from "vitest";
import { user } from "../../fault/support/sessions.ts";
import { PATIENCE_MS } from "../../support/patience.ts";

afterEach(() => vi.restoreAllMocks());

const throwing = {
  get message(): string {
    throw new Error("unreadable");
  },
  toString(): string {
    throw new Error("unspeakable");
  },
};

test.each([
  ["an error", new Error("a reason"), "a reason"],
  [
    "an error whose stack is not a string",
    Object.assign(new Error("x"), { stack: Symbol("odd") }),
    "Symbol(odd)",
  ],
  ["undefined", undefined, "undefined"],
  ["an object without a prototype", Object.create(null), "a value that has no text"],
  ["an object that cannot be read", throwing, "a value that has no text"],
])("a listener that throws %s affects neither the append nor other listeners", (_name, thrown, said) => {
  const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
  const session = SessionManager.inMemory();
  const second = vi.fn();
  session.on("entry_appended", () => {
    throw thrown;
  });
  session.on("entry_appended", second);
  const id = session.appendMessage(user("one"));
  expect(session.getLeafId()).toBe(id);
  expect(second).toHaveBeenCalledTimes(1);
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(said), {
    code: "SESSIONTREE_LISTENER",
  });
});

test.each([
  ["rejects", async () => Promise.reject(new Error("a reason")), "a reason"],
  ["rejects with what cannot be read", async () => Promise.reject(throwing), "a value that has no text"],
])(
  "an asynchronous listener that %s becomes a warning, and does not end the program",
  async (_name, listener, said) => {
    const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const session = SessionManager.inMemory();
    session.on("entry_appended", listener);
    session.appendMessage(user("one"));
    await vi.waitFor(() => expect(warn).toHaveBeenCalled(), { timeout: PATIENCE_MS });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(said), {
      code: "SESSIONTREE_LISTENER",
    });
  },
);

test("an unknown event is rejected, with the one that was probably meant", () => {
  const session = SessionManager.inMemory();
  const add = () => Reflect.apply(session.on, session, ["entryAppended", () => undefined]);
  expect(add).toThrow(TypeError);
  expect(add).toThrow('Unknown event "entryAppended"; did you mean "entry_appended"? The events are ');
});
