import { type EntryDraft, type SessionEntry, SessionManager } from "sessiontree";
import { expect, expectTypeOf, test } from "vitest";
import { user } from "../support/messages.ts";
import type * as Pi from "./support/pi-types.ts";

// Type expectations fail in the compiler (`npm run types`), not at run time.

type IsDraft<Draft> = Draft extends EntryDraft ? true : false;

test("drafts of known types have their fields, and unknown types are passed as such", () => {
  const session = SessionManager.inMemory();
  session.append({ type: "message", message: user("hello") });
  session.append({ type: "custom", customType: "x", data: { a: 1 } });
  session.append({ type: "session_info", name: "name", details: { from: "a host" } });
  session.append({ unknownType: "acme.note", text: "hello" });
  session.appendAll([(id) => ({ type: "compaction", summary: "s", firstKeptEntryId: id, tokensBefore: 1 })]);
  const entries: SessionEntry[] = session.getEntries();
  SessionManager.inMemory().appendAll(entries);
  expect(session.getEntryCount()).toBe(5);
  expectTypeOf<Pi.SessionEntry>().toExtend<EntryDraft>();
});

test("rejects drafts that would be lost or would empty the context", () => {
  expectTypeOf<IsDraft<{ type: "mesage"; message: object }>>().toEqualTypeOf<false>();
  expectTypeOf<IsDraft<{ type: string }>>().toEqualTypeOf<false>();
  expectTypeOf<IsDraft<{ type: "compaction" }>>().toEqualTypeOf<false>();
  expectTypeOf<
    IsDraft<{ type: "compaction"; summary: string; tokensBefore: number }>
  >().toEqualTypeOf<false>();
  expectTypeOf<IsDraft<{ type: "context_edit"; targetId: string }>>().toEqualTypeOf<false>();
  expectTypeOf<IsDraft<{ type: "message"; message: { role: "user" } }>>().toEqualTypeOf<false>();
  expectTypeOf<IsDraft<{ type: "message"; unknownType: "note" }>>().toEqualTypeOf<false>();
  const session = SessionManager.inMemory();
  // @ts-expect-error A misspelled type.
  expect(() => session.append({ type: "mesage", message: user("hello") })).toThrow();
  // @ts-expect-error A compaction that would empty the context.
  expect(() => session.appendAll([{ type: "compaction" }])).toThrow();
  // @ts-expect-error A misspelled field.
  expect(() => session.append({ type: "label", target: "x" })).toThrow();
});
