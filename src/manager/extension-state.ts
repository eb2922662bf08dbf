import type { core, input, output } from "zod";
import { encodeRecord } from "../jsonl/encode.ts";
import { makeIssue } from "../jsonl/issue-log.ts";
import type { CustomEntry, SessionEntry } from "../schema/entry.ts";
import { messageOf, SessionError } from "../schema/errors.ts";
import type { SessionIssue } from "../schema/issue.ts";
import { isJsonRecord } from "../schema/json.ts";
import { describeProblems } from "../schema/problems.ts";

/** What extension state needs of a session; a `SessionManager` has it. */
export interface StateSession {
  appendCustomEntry(customType: string, data?: unknown): string;
  /** The path leaf → root, entries of one type only. */
  walkUp(options: { type: string }): Iterable<SessionEntry>;
  /** All entries in file order. */
  getEntries(): readonly SessionEntry[];
  reportIssue(issue: SessionIssue): void;
}

/** The part of a zod schema that is called, so that only the extension loads zod. */
export interface StateSchema<Output> extends core.$ZodType<Output> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: Output }
    | { readonly success: false; readonly error: core.$ZodError };
}

/** A kind of state that an extension stores in sessions, typed by its schema. */
export interface EntryType<Schema extends core.$ZodType> {
  /** Name under which the state is stored. */
  readonly customType: string;
  readonly schema: Schema;

  /**
   * Appends a value at the leaf, stored as given.
   *
   * @returns Id of the new entry.
   * @throws {SessionError} `ENTRY_INVALID` if the value, or its form as JSON, does not fit the schema; nothing is
   *   written.
   * @throws {TypeError} If the value has a cycle or a BigInt.
   */
  append(session: StateSession, data: input<Schema>): string;

  /**
   * Returns the latest value on the active path that fits the schema; undefined if there is none.
   *
   * Reports and skips later values that do not fit.
   *
   * @remarks Cost: O(path) in heads at worst, plus the bodies of the custom entries up to the result.
   */
  latest(session: StateSession): output<Schema> | undefined;

  /**
   * Returns all values of the session that fit the schema, from every branch, in file order. Reports the others.
   *
   * @remarks Cost: O(file).
   */
  all(session: StateSession): output<Schema>[];
}

type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly string[]; readonly cause: unknown };

const NOWHERE = { line: 0, offset: 0, length: 0 };

// Weakly keyed by value, so that repeated definitions do not report again.
const reported = new WeakMap<StateSession, WeakSet<CustomEntry>>();

/**
 * Defines a kind of extension state: `custom` entries of one `customType` whose data fits a schema.
 *
 * State follows the tree: `latest` reads the active path. A stored value that does not fit is an issue
 * (`STATE_INVALID`, once per value), never an exception.
 *
 * @param customType - Name of the state, unique to the extension; not empty.
 * @param schema - A synchronous schema of zod 4 or zod/mini. Defaults and transforms apply when a value is read.
 * @returns A frozen object, independent of any session.
 * @throws {TypeError} If the name is empty or not a text.
 * @example
 * import { defineEntryType, SessionManager } from "sessiontree";
 * import { z } from "zod";
 *
 * const todo = defineEntryType("todo", z.object({ open: z.array(z.string()) }));
 * const session = SessionManager.inMemory();
 * todo.append(session, { open: ["write tests"] });
 * const open = todo.latest(session)?.open ?? [];
 */
export function defineEntryType<Schema extends StateSchema<output<Schema>>>(
  customType: string,
  schema: Schema,
): EntryType<Schema> {
  if (typeof customType !== "string" || customType === "") {
    throw new TypeError("An entry type needs a name; pass a non-empty text.");
  }
  const isOurs = (entry: SessionEntry): entry is CustomEntry =>
    entry.type === "custom" && entry.customType === customType;
  const readEntry = (session: StateSession, entry: CustomEntry): Reading<output<Schema>> => {
    const reading = read(schema, entry.data);
    if (!reading.ok) reportOnce(session, entry, reading.problems);
    return reading;
  };
  return Object.freeze({
    customType,
    schema,
    append(session: StateSession, data: input<Schema>): string {
      assertFits(customType, schema, data);
      return session.appendCustomEntry(customType, data);
    },
    latest(session: StateSession): output<Schema> | undefined {
      for (const entry of session.walkUp({ type: "custom" })) {
        if (!isOurs(entry)) continue;
        const reading = readEntry(session, entry);
        if (reading.ok) return reading.value;
      }
      return undefined;
    },
    all(session: StateSession): output<Schema>[] {
      return session
        .getEntries()
        .filter(isOurs)
        .flatMap((entry) => {
          const reading = readEntry(session, entry);
          return reading.ok ? [reading.value] : [];
        });
    },
  });
}

function assertFits(customType: string, schema: StateSchema<unknown>, data: unknown): void {
  // What JSON changes (a Date, NaN) must fail now, not when the session is opened again.
  for (const value of [data, storedForm(data)]) {
    const reading = read(schema, value);
    if (reading.ok) continue;
    throw new SessionError(
      "ENTRY_INVALID",
      `The value does not fit the schema of ${JSON.stringify(customType)} (${reading.problems.join("; ")}); correct it and append again.`,
      { details: { customType, problems: reading.problems }, cause: reading.cause },
    );
  }
}

/** Returns a value as it will be once written and read. */
function storedForm(data: unknown): unknown {
  const record: unknown = JSON.parse(encodeRecord({ data }));
  return isJsonRecord(record) ? record["data"] : undefined;
}

function read<Output>(schema: StateSchema<Output>, value: unknown): Reading<Output> {
  try {
    const result = schema.safeParse(value);
    if (result.success) return { ok: true, value: result.data };
    return { ok: false, problems: describeProblems(result.error), cause: result.error };
  } catch (cause) {
    // A transform or refinement of the extension threw because of this value.
    return { ok: false, problems: [`the schema failed: ${messageOf(cause)}`], cause };
  }
}

function reportOnce(session: StateSession, entry: CustomEntry, problems: readonly string[]): void {
  const known = reported.get(session) ?? new WeakSet();
  reported.set(session, known);
  if (known.has(entry)) return;
  known.add(entry);
  const about = `entry ${entry.id} of ${JSON.stringify(entry.customType)}: ${problems.join("; ")}`;
  session.reportIssue(makeIssue("STATE_INVALID", NOWHERE, entry.id, about));
}
