import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import {
  buildSessionContext,
  computeFileLists,
  projectContextEntry,
  readSession,
  SessionManager,
  settingsForModel,
  shouldCompact,
} from "sessiontree";
import { loadChat } from "sessiontree/adapters";
import {
  appendAnthropicSummary,
  appendConversation,
  fromAnthropic,
  requestAnthropicSummary,
  requestChanges,
} from "sessiontree/convert";
import { copySession, memoryStore } from "sessiontree/stores";
import { describe, expect, it, onTestFinished } from "vitest";
import { user } from "../../support/messages.ts";

/** Passes a value that the type of a function does not allow. */
function callWith(call: (...args: never[]) => unknown, ...args: readonly unknown[]): () => unknown {
  return () => Reflect.apply(call, undefined, [...args]);
}

const session = () => SessionManager.inMemory();
const answer = { content: [{ type: "compaction", content: "Summary" }] };

describe("an argument of the wrong type is named with what is expected:", () => {
  const expected = "a session, such as SessionManager.inMemory() returns";
  const notAwaited = `The argument session must be ${expected}, but is a promise. Await the promise and pass its result.`;

  it.each([
    ["appendConversation", callWith(appendConversation, Promise.resolve(session()), [])],
    ["requestAnthropicSummary", callWith(requestAnthropicSummary, Promise.resolve(session()))],
    ["appendAnthropicSummary", callWith(appendAnthropicSummary, Promise.resolve(session()), {}, answer)],
    ["requestChanges", callWith(requestChanges, Promise.resolve(session()), "aaaaaaaa")],
    ["loadChat", callWith(loadChat, Promise.resolve(session()))],
  ])("a session that was not awaited, by %s", (_, call) => {
    expect(call).toThrow(new TypeError(notAwaited));
  });

  it("a converter's result in place of its messages", () => {
    const converted = fromAnthropic([{ role: "user", content: "Hi" }], { timestamp: 1 });
    expect(callWith(appendConversation, session(), converted)).toThrow(
      new TypeError("The list of messages is an object, not an array. Pass the messages as an array."),
    );
  });

  it("a request for a summary, and its response", () => {
    expect(callWith(appendAnthropicSummary, session(), undefined, answer)).toThrow(
      new TypeError("The argument request must be what requestAnthropicSummary returned, but is undefined."),
    );
    expect(callWith(appendAnthropicSummary, session(), { record: {} }, Promise.resolve(answer))).toThrow(
      new TypeError("The response is a promise, not an object. Await the SDK's response and pass it."),
    );
  });

  it("a store", async () => {
    await expect(callWith(copySession, memoryStore(), "s1", null)()).rejects.toThrow(
      new TypeError("The argument to must be a store, such as fileStore() returns, but is null."),
    );
  });

  it("the project of a session in a store", async () => {
    const store = memoryStore();
    const error = new TypeError("The argument cwd must be a string, but is undefined.");
    expect(callWith(store.create.bind(store), {})).toThrow(error);
    await expect(callWith(store.openOrCreate.bind(store), "s1", {})()).rejects.toThrow(error);
  });

  it("settings", () => {
    const error = new TypeError("The argument settings must be an object, but is null.");
    expect(callWith(shouldCompact, 1, 1, null)).toThrow(error);
    expect(callWith(settingsForModel, null, undefined)).toThrow(error);
  });

  it("a path", () => {
    expect(callWith(SessionManager.open, undefined)).toThrow(
      new TypeError("A path must be a string, but is undefined."),
    );
  });

  it("an event", () => {
    const made = session();
    expect(callWith(made.on.bind(made), "append", () => undefined)).toThrow(
      /^Unknown event "append"\. The events are "entry_appended", .*, "closed"\.$/,
    );
  });
});

describe("an argument that a correct program passes is accepted:", () => {
  const entries = [
    {
      type: "message",
      id: "aaaaaaaa",
      parentId: null,
      timestamp: "2026-02-03T22:52:06.410Z",
      message: user("Hi"),
    },
  ] as const;

  it("null in place of an optional argument, as in pi", async () => {
    for (const leafId of [undefined, "aaaaaaaa"])
      expect(callWith(buildSessionContext, entries, leafId, null)()).toEqual(
        buildSessionContext(entries, leafId),
      );
    const folder = mkdtempSync(join(tmpdir(), "test-sessiontree-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    SessionManager.create("/p", folder).appendMessage(user("Hi"));
    const listed: unknown = await callWith(SessionManager.list, "/p", folder, null)();
    expect(listed).toMatchObject([{ firstMessage: "Hi" }]);
  });

  it("an edit that is not an entry, such as the index that flatMap passes", () => {
    for (const edit of [0, null])
      expect(callWith(projectContextEntry, entries[0], edit)()).toEqual([user("Hi")]);
  });

  it("bytes and sets of another realm, in which a test runner or an editor runs a program", () => {
    const bytes: unknown = runInNewContext("Uint8Array.of(123, 125)");
    expect(bytes).not.toBeInstanceOf(Uint8Array);
    expect(callWith(readSession, bytes)()).toEqual(readSession("{}"));
    const files: unknown = runInNewContext(
      "({ read: new Set(['a', 'b']), written: new Set(['b']), edited: new Set() })",
    );
    expect(callWith(computeFileLists, files)()).toEqual({ readFiles: ["a"], modifiedFiles: ["b"] });
  });
});

describe("a session writes nothing if an argument is invalid:", () => {
  it.each([
    ["thinkingLevel", "appendThinkingLevelChange", [undefined]],
    ["provider", "appendModelChange", [undefined, "m1"]],
    ["modelId", "appendModelChange", ["acme", 5]],
    ["usage", "appendUsage", ["title", "acme", "m1", null]],
    ["summary", "appendCompaction", [undefined, null, 1]],
    ["customType", "appendCustomEntry", [undefined, {}]],
    ["content", "appendCustomMessageEntry", ["note", { text: "Hi" }, true]],
    ["name", "appendSessionInfo", [undefined]],
    ["summary", "branchWithSummary", [null, undefined]],
    ["drafts", "appendAll", [{}]],
  ])("%s of %s", (argument, method, args) => {
    const made = session();
    const entryId = made.appendMessage(user("Hi"));
    const call: unknown = Reflect.get(made, method);
    expect(() => Reflect.apply(Object(call), made, args)).toThrow(`The argument ${argument} must be `);
    expect([made.getEntryCount(), made.getLeafId()]).toEqual([1, entryId]);
  });

  it("a label that is not a string", () => {
    const made = session();
    const entryId = made.appendMessage(user("Hi"));
    expect(callWith(made.appendLabelChange.bind(made), entryId, { text: "x" })).toThrow(
      new TypeError("The argument label must be a string, but is an object."),
    );
    expect(made.getEntryCount()).toBe(1);
  });
});

it("a session finds no entry for an id that is not a string", () => {
  const made = session();
  made.appendMessage(user("Hi"));
  for (const id of [null, 5, {}]) {
    expect(callWith(made.getEntry.bind(made), id)()).toBeUndefined();
    expect(callWith(made.getBranch.bind(made), id)()).toEqual(id === null ? made.getBranch() : []);
    expect(callWith(made.branch.bind(made), id)).toThrow(/^Entry .* not found/);
  }
  expect(made.getBranch()).not.toEqual([]);
});
