import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import type { CustomEntry, SessionEntry } from "../../../src/core/format/entry.ts";
import { SessionError } from "../../../src/core/format/errors.ts";
import type { SessionIssue } from "../../../src/core/format/issue.ts";
import {
  defineEntryType,
  type StandardSchema,
  type StateSession,
} from "../../../src/session/manager/extension-state.ts";

/** Minimal session for extension state, in which every entry is a child of the leaf. */
class FakeSession implements StateSession {
  readonly entries: SessionEntry[] = [];
  readonly issues: SessionIssue[] = [];
  leaf: string | null = null;

  add(fields: Pick<CustomEntry, "type" | "customType" | "data">): string {
    const id = String(this.entries.length).padStart(8, "0");
    this.entries.push({ ...fields, id, parentId: this.leaf, timestamp: "2026-02-03T22:52:06.410Z" });
    this.leaf = id;
    return id;
  }

  appendCustomEntry(customType: string, data?: unknown): string {
    return this.add({ type: "custom", customType, ...(data !== undefined && { data }) });
  }

  getEntries(): SessionEntry[] {
    return [...this.entries];
  }

  *walkUp({ type }: { type: string }): Generator<SessionEntry, void> {
    for (const entry of this.getBranch().reverse()) if (entry.type === type) yield entry;
  }

  getBranch(): SessionEntry[] {
    const path: SessionEntry[] = [];
    for (let id = this.leaf; id !== null; id = path.at(-1)?.parentId ?? null) {
      const entry = this.entries.find((one) => one.id === id);
      if (entry === undefined) break;
      path.push(entry);
    }
    return path.reverse();
  }

  reportIssue(issue: SessionIssue): void {
    this.issues.push(issue);
  }
}

const counter = defineEntryType("counter", z.object({ count: z.number() }));

/** Creates a Standard Schema by hand, in the form that libraries use. */
function schemaOf<Input, Output = Input>(
  validate: StandardSchema<Input, Output>["~standard"]["validate"],
): StandardSchema<Input, Output> {
  return { "~standard": { version: 1, vendor: "by hand", validate } };
}

function caught(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("defineEntryType", () => {
  test("types input and output", () => {
    const stamped = defineEntryType(
      "stamped",
      z.object({ at: z.string().transform((text) => new Date(text)), note: z.string().default("none") }),
    );
    expectTypeOf(stamped.append).parameter(1).toEqualTypeOf<{ at: string; note?: string | undefined }>();
    expectTypeOf(stamped.latest).returns.toEqualTypeOf<{ at: Date; note: string } | undefined>();
    expectTypeOf(stamped.all).returns.toEqualTypeOf<{ at: Date; note: string }[]>();
    const session = new FakeSession();
    stamped.append(session, { at: "2026-02-03T00:00:00.000Z" });
    expect(stamped.latest(session)).toEqual({ at: new Date("2026-02-03T00:00:00.000Z"), note: "none" });
  });

  test("accepts schemas of zod/mini too", () => {
    const flag = defineEntryType("flag", mini.boolean());
    const session = new FakeSession();
    flag.append(session, true);
    expect(flag.latest(session)).toBe(true);
  });

  test("accepts any Standard Schema, and names the paths of its issues", () => {
    const open = defineEntryType(
      "open",
      schemaOf<{ open: string[] }, ReadonlySet<string>>((value) => {
        const list: unknown = Object(value).open;
        if (!Array.isArray(list)) return { issues: [{ message: "no list" }] };
        const bad = list.findIndex((one) => typeof one !== "string");
        if (bad < 0) return { value: new Set(list) };
        return { issues: [{ message: "no text", path: ["open", { key: bad }] }] };
      }),
    );
    expectTypeOf(open.append).parameter(1).toEqualTypeOf<{ open: string[] }>();
    expectTypeOf(open.latest).returns.toEqualTypeOf<ReadonlySet<string> | undefined>();
    const session = new FakeSession();
    open.append(session, { open: ["tests"] });
    expect(open.latest(session)).toEqual(new Set(["tests"]));
    expect(session.entries[0]).toHaveProperty("data", { open: ["tests"] });
    // @ts-expect-error The type forbids it.
    const error = caught(() => open.append(session, { open: ["tests", 4] }));
    expect(error).toMatchObject({ code: "ENTRY_INVALID", details: { problems: ["open[1]: no text"] } });
    session.appendCustomEntry("open", 4);
    expect(open.all(session)).toEqual([new Set(["tests"])]);
    expect(session.issues).toMatchObject([{ message: expect.stringContaining("no list") }]);
  });

  test("rejects a schema that returns a promise, resolved or rejected", () => {
    const session = new FakeSession();
    for (const answer of [Promise.resolve({ value: 1 }), Promise.reject(new Error("too late"))]) {
      const slow = defineEntryType(
        "slow",
        schemaOf<number>(() => answer),
      );
      const error = caught(() => slow.append(session, 1));
      expect(error).toBeInstanceOf(SessionError);
      expect(error).toMatchObject({
        code: "ENTRY_INVALID",
        message: expect.stringContaining("asynchronous"),
      });
    }
    expect(session.entries).toEqual([]);
  });

  test.each([[""], [undefined], [4]])("rejects an invalid name: %j", (name) => {
    expect(() => Reflect.apply(defineEntryType, undefined, [name, z.string()])).toThrow(TypeError);
  });

  test.each([
    ["an object with a parse function", { parse: (value: unknown) => value }],
    ["undefined", undefined],
    ["a schema without `validate`", { "~standard": { version: 1, vendor: "none" } }],
  ])("rejects %s as a schema when the type is defined", (_name, schema) => {
    const define = () => Reflect.apply(defineEntryType, undefined, ["todo", schema]);
    expect(define).toThrow(TypeError);
    expect(define).toThrow("The argument schema must be a Standard Schema");
  });

  test("accepts a schema that is a function, as those of arktype are", () => {
    const schema = Object.assign(() => undefined, { "~standard": z.string()["~standard"] });
    expect(defineEntryType("todo", schema).customType).toBe("todo");
  });

  test("returns a frozen object", () => {
    expect(Object.isFrozen(counter)).toBe(true);
    expect(counter.customType).toBe("counter");
  });
});

describe("append", () => {
  test("stores the value unchanged and returns the id of its entry", () => {
    const session = new FakeSession();
    const data = { count: 1 };
    const id = counter.append(session, data);
    expect(session.entries).toMatchObject([{ id, type: "custom", customType: "counter" }]);
    expect(session.entries[0]).toHaveProperty("data", data);
  });

  test("stores no default and no transform, so that the stored value fits the schema again", () => {
    const session = new FakeSession();
    const doubled = defineEntryType(
      "doubled",
      z.object({ n: z.number().transform((n) => n * 2), by: z.string().default("me") }),
    );
    doubled.append(session, { n: 2 });
    expect(session.entries[0]).toHaveProperty("data", { n: 2 });
    expect(doubled.latest(session)).toEqual({ n: 4, by: "me" });
  });

  test("throws ENTRY_INVALID with details and writes nothing if the value does not fit", () => {
    const session = new FakeSession();
    const append = vi.spyOn(session, "appendCustomEntry");
    // @ts-expect-error The type forbids it; data from outside may hold it nevertheless.
    const error = caught(() => counter.append(session, { count: "one" }));
    expect(error).toBeInstanceOf(SessionError);
    expect(error).toMatchObject({
      code: "ENTRY_INVALID",
      message: expect.stringMatching(
        /^The value does not match the schema of "counter" \(count: .*number.*\); /,
      ),
      details: { customType: "counter", problems: [expect.stringMatching(/^count: /)] },
    });
    expect(append).not.toHaveBeenCalled();
  });

  test.each([
    ["a Date, which JSON turns into text", z.date(), new Date(0)],
    ["a Map, which JSON turns into {}", z.map(z.string(), z.string()), new Map()],
    ["undefined in an array, which JSON turns into null", z.array(z.undefined()), [undefined]],
  ])("rejects %s, because it could not be read back", (_, schema, value) => {
    const session = new FakeSession();
    const error = caught(() => defineEntryType("x", schema).append(session, value));
    expect(error).toMatchObject({ code: "ENTRY_INVALID" });
    expect(session.entries).toEqual([]);
  });

  test("throws a TypeError with the path for values that JSON cannot hold", () => {
    const session = new FakeSession();
    const any = defineEntryType("x", z.unknown());
    expect(() => any.append(session, { deep: [1n] })).toThrow(/\.deep\[0\]/);
    expect(() => any.append(session, { deep: [1n] })).toThrow(TypeError);
    expect(session.entries).toEqual([]);
  });

  test("wraps an error of the schema in ENTRY_INVALID with its cause", () => {
    const cause = new Error("the transform broke");
    const broken = defineEntryType(
      "x",
      schemaOf<string>(() => {
        throw cause;
      }),
    );
    const session = new FakeSession();
    const error = caught(() => broken.append(session, "a"));
    expect(error).toMatchObject({ code: "ENTRY_INVALID", cause });
    expect(error).toHaveProperty("message", expect.stringContaining("the transform broke"));
    expect(session.entries).toEqual([]);
  });

  test("appends an entry without data if the schema requires none", () => {
    const session = new FakeSession();
    const mark = defineEntryType("mark", z.undefined());
    mark.append(session, undefined);
    expect(session.entries[0]).not.toHaveProperty("data");
    expect(mark.all(session)).toEqual([undefined]);
    expect(session.issues).toEqual([]);
  });
});

describe("latest", () => {
  test("is undefined in a session without state", () => {
    const session = new FakeSession();
    expect(counter.latest(session)).toBeUndefined();
    session.appendCustomEntry("other", { count: 1 });
    expect(counter.latest(session)).toBeUndefined();
  });

  test("follows the active path, not the file", () => {
    const session = new FakeSession();
    const first = counter.append(session, { count: 1 });
    counter.append(session, { count: 2 });
    session.leaf = first;
    expect(counter.latest(session)).toEqual({ count: 1 });
    counter.append(session, { count: 3 });
    session.appendCustomEntry("other", { count: 9 });
    expect(counter.latest(session)).toEqual({ count: 3 });
    session.leaf = null;
    expect(counter.latest(session)).toBeUndefined();
  });

  test("ignores values that do not fit, and reports them", () => {
    const session = new FakeSession();
    counter.append(session, { count: 1 });
    const bad = session.appendCustomEntry("counter", { count: "two" });
    expect(counter.latest(session)).toEqual({ count: 1 });
    expect(session.issues).toEqual([
      {
        code: "STATE_INVALID",
        line: 0,
        offset: 0,
        length: 0,
        entryId: bad,
        message: expect.stringMatching(new RegExp(`entry ${bad} of "counter": count: .*number`)),
      },
    ]);
  });

  test("searches no further back than necessary", () => {
    const session = new FakeSession();
    session.appendCustomEntry("counter", "bad, but older");
    counter.append(session, { count: 2 });
    expect(counter.latest(session)).toEqual({ count: 2 });
    expect(session.issues).toEqual([]);
  });

  test("does not treat a custom message of the same name as state", () => {
    const session = new FakeSession();
    const message = { type: "custom_message", customType: "counter", content: "", display: true } as const;
    session.entries.push({ ...message, id: "a", parentId: null, timestamp: "t" });
    session.leaf = "a";
    expect(counter.latest(session)).toBeUndefined();
    expect(session.issues).toEqual([]);
  });
});

describe("all", () => {
  test("returns the valid values of every branch in file order and reports the others", () => {
    const session = new FakeSession();
    const first = counter.append(session, { count: 1 });
    counter.append(session, { count: 2 });
    session.leaf = first;
    const bad = session.appendCustomEntry("counter");
    const worse = session.appendCustomEntry("counter", { count: null });
    session.appendCustomEntry("other", { count: 9 });
    counter.append(session, { count: 3 });
    expect(counter.all(session)).toEqual([{ count: 1 }, { count: 2 }, { count: 3 }]);
    expect(session.issues.map((issue) => issue.entryId)).toEqual([bad, worse]);
    expect(new Set(session.issues.map((issue) => issue.message)).size).toBe(2);
  });
});

describe("a read-only session with pi's members only", () => {
  /** Copies only the members that pi allows extensions to read, bound to the session. */
  function readOnly(session: FakeSession): StateSession {
    return Object.freeze({
      getBranch: () => session.getBranch(),
      getEntries: () => session.getEntries(),
      getEntry: (id: string) => session.entries.find((entry) => entry.id === id),
      getLeafId: () => session.leaf,
    });
  }

  test("returns the latest value of the path, and all of them", () => {
    const session = new FakeSession();
    const first = counter.append(session, { count: 1 });
    counter.append(session, { count: 2 });
    const view = readOnly(session);
    expect(counter.latest(view)).toEqual({ count: 2 });
    session.leaf = first;
    expect(counter.latest(view)).toEqual({ count: 1 });
    expect(counter.all(view)).toEqual([{ count: 1 }, { count: 2 }]);
    expect(counter.latest(readOnly(new FakeSession()))).toBeUndefined();
  });

  test("calls onIssue once for each value that does not fit, also after reads without it", () => {
    const session = new FakeSession();
    counter.append(session, { count: 1 });
    const bad = session.appendCustomEntry("counter", { count: "two" });
    const view = readOnly(session);
    expect(counter.latest(view)).toEqual({ count: 1 });
    const issues: SessionIssue[] = [];
    const onIssue = (issue: SessionIssue) => issues.push(issue);
    expect(counter.latest(view, { onIssue })).toEqual({ count: 1 });
    expect(counter.all(view, { onIssue })).toEqual([{ count: 1 }]);
    expect(issues).toMatchObject([{ code: "STATE_INVALID", entryId: bad }]);
    expect(session.issues).toEqual([]);
  });
});

describe("an invalid value is reported once", () => {
  test("however often and by whatever definition it is read", () => {
    const session = new FakeSession();
    session.appendCustomEntry("counter", {});
    for (let i = 0; i < 3; i++) {
      counter.latest(session);
      counter.all(session);
      defineEntryType("counter", z.object({ count: z.number() })).latest(session);
    }
    expect(session.issues).toHaveLength(1);
  });

  test("but to every session that holds it", () => {
    const one = new FakeSession();
    const two = new FakeSession();
    one.appendCustomEntry("counter", {});
    two.entries.push(...one.entries);
    counter.all(one);
    counter.all(two);
    expect([one.issues.length, two.issues.length]).toEqual([1, 1]);
  });

  test("and a schema that throws or is asynchronous counts as not fitting", () => {
    const session = new FakeSession();
    session.appendCustomEntry("broken", "a");
    session.appendCustomEntry("slow", "a");
    session.appendCustomEntry("zod", "a");
    const broken = schemaOf<string>(() => {
      throw new Error("the transform broke");
    });
    const slow = z.string().refine(async () => true);
    const throwing = z.string().transform(() => {
      throw new Error("the transform broke");
    });
    expect(defineEntryType("broken", broken).latest(session)).toBeUndefined();
    expect(defineEntryType("slow", slow).latest(session)).toBeUndefined();
    expect(defineEntryType("zod", throwing).latest(session)).toBeUndefined();
    expect(session.issues.map((issue) => issue.message)).toEqual([
      expect.stringContaining("the schema failed: the transform broke"),
      expect.stringContaining("asynchronous"),
      expect.stringContaining("threw an error"),
    ]);
  });
});
