import { assertArgument, assertSession } from "../../core/format/arguments.ts";
import type { CustomEntry, SessionEntry } from "../../core/format/entry.ts";
import { getErrorMessage, SessionError } from "../../core/format/errors.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import type { OptionRule } from "../../core/format/options.ts";
import { formatProblems } from "../../core/format/validation-problems.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { makeIssue } from "../../core/jsonl/issue-log.ts";

/** Session methods required to read extension state. Every `ReadonlySessionManager` implements them, including pi's. */
export interface StateSession {
  /** Returns the path root → leaf. */
  getBranch(): readonly SessionEntry[];
  /** Returns all entries in file order. */
  getEntries(): readonly SessionEntry[];
  /** Yields the entries of one type on the path leaf → root. Reads fewer bodies than `getBranch`. */
  walkUp?(options: { type: string }): Iterable<SessionEntry>;
  /** Receives issues about stored values. */
  reportIssue?(issue: SessionIssue): void;
}

type OnIssue = (issue: SessionIssue) => void;

/**
 * Subset of [Standard Schema](https://standardschema.dev) that this library uses. Schemas of zod, valibot, arktype, and others
 * implement it.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    /** Returns the resulting value or the issues. Must not return a promise, because entries are read synchronously. */
    readonly validate: (value: unknown) =>
      | { readonly value: Output; readonly issues?: undefined }
      | {
          readonly issues: readonly {
            readonly message: string;
            readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
          }[];
        }
      | Promise<unknown>;
    /** Only used by the compiler. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** Kind of state that an extension stores in sessions, typed by its schema. */
export interface EntryType<
  Schema extends StandardSchema,
  Input = NonNullable<Schema["~standard"]["types"]>["input"],
  Output = NonNullable<Schema["~standard"]["types"]>["output"],
> {
  /** Name under which the state is stored. */
  readonly customType: string;
  readonly schema: Schema;

  /**
   * Appends a value at the leaf. The value is stored unchanged.
   *
   * @returns Id of the new entry.
   * @throws {SessionError} `ENTRY_INVALID` if the value or its JSON form does not match the schema; nothing is written.
   * @throws {TypeError} If the value contains a cycle or a BigInt.
   */
  append(session: { appendCustomEntry(customType: string, data?: unknown): string }, data: Input): string;

  /**
   * Returns the latest value on the active path that matches the schema; undefined if there is none.
   *
   * Reports and skips later values that do not match.
   *
   * @param session - A sessiontree or pi session, including a read-only one.
   * @param options - `onIssue`: called once for each value that does not match, if the session has no `reportIssue` method (such
   *   as a pi session).
   * @remarks Cost: O(path) head reads at worst, plus the bodies of the custom entries up to the result.
   */
  latest(session: StateSession, options?: { readonly onIssue?: OnIssue }): Output | undefined;

  /**
   * Returns all values of the session that match the schema, from every branch, in file order. Reports the others.
   *
   * @remarks Cost: O(file).
   */
  all(session: StateSession, options?: { readonly onIssue?: OnIssue }): Output[];
}

type InputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["input"];

type OutputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly string[]; readonly cause?: unknown };

/** zod also returns a promise if a transform throws. */
const ASYNCHRONOUS =
  "the schema returned a promise because it is asynchronous or threw an error; pass a synchronous one";

const NOWHERE = { line: 0, offset: 0, length: 0 };

/** Rule for a schema. Those of some packages are functions. */
const SCHEMA: OptionRule = {
  fits: (value) => {
    const standard: unknown = Reflect.get(Object(value), "~standard");
    return isJsonRecord(standard) && typeof standard["validate"] === "function";
  },
  words:
    'a Standard Schema (it has the property "~standard"), such as z.object({ … }) of zod or v.object({ … }) of valibot',
};

// Weakly keyed by value, so that repeated definitions do not report again.
const reported = new WeakMap<StateSession, WeakSet<CustomEntry>>();

/**
 * Defines a kind of extension state: `custom` entries with one `customType`, whose data matches a schema.
 *
 * State follows the tree: `latest` reads the active path. A stored value that does not match is reported as an issue
 * (`STATE_INVALID`, once per value), never as an exception.
 *
 * @param customType - Name of the state. Must be unique to the extension and not empty.
 * @param schema - A synchronous Standard Schema, for example from zod or valibot. Defaults and transforms are applied when a
 *   value is read.
 * @returns A frozen object, independent of any session.
 * @throws {TypeError} If the name is empty or not a string, or the schema is not a Standard Schema.
 * @example
 * import { defineEntryType, SessionManager } from "sessiontree";
 * import { z } from "zod";
 *
 * const todo = defineEntryType("todo", z.object({ open: z.array(z.string()) }));
 * const session = SessionManager.inMemory();
 * todo.append(session, { open: ["write tests"] });
 * const open = todo.latest(session)?.open ?? [];
 */
export function defineEntryType<Schema extends StandardSchema>(
  customType: string,
  schema: Schema,
): EntryType<Schema> {
  if (typeof customType !== "string" || customType === "") {
    throw new TypeError("An entry type needs a name; pass a nonempty string.");
  }
  assertArgument("schema", schema, SCHEMA);
  const isOurs = (entry: SessionEntry): entry is CustomEntry =>
    entry.type === "custom" && entry.customType === customType;
  const readEntry = (
    session: StateSession,
    entry: CustomEntry,
    { onIssue }: { readonly onIssue?: OnIssue } = {},
  ) => {
    const reading = readState(schema, entry.data);
    if (!reading.ok) reportOnce(session, entry, reading.problems, onIssue);
    return reading;
  };
  return Object.freeze({
    customType,
    schema,
    append(
      session: { appendCustomEntry(customType: string, data?: unknown): string },
      data: InputOf<Schema>,
    ): string {
      assertSession(session, "appendCustomEntry");
      assertFits(customType, schema, data);
      return session.appendCustomEntry(customType, data);
    },
    latest(session: StateSession, options?: { readonly onIssue?: OnIssue }): OutputOf<Schema> | undefined {
      assertSession(session);
      for (const entry of session.walkUp?.({ type: "custom" }) ?? [...session.getBranch()].reverse()) {
        if (!isOurs(entry)) continue;
        const reading = readEntry(session, entry, options);
        if (reading.ok) return reading.value;
      }
      return undefined;
    },
    all(session: StateSession, options?: { readonly onIssue?: OnIssue }): OutputOf<Schema>[] {
      assertSession(session, "getEntries");
      return session
        .getEntries()
        .filter(isOurs)
        .flatMap((entry) => {
          const reading = readEntry(session, entry, options);
          return reading.ok ? [reading.value] : [];
        });
    },
  });
}

function assertFits(customType: string, schema: StandardSchema, data: unknown): void {
  // Values that JSON changes (a Date, NaN) must fail now, not when the session is reopened.
  for (const value of [data, toStoredForm(data)]) {
    const reading = readState(schema, value);
    if (reading.ok) continue;
    throw new SessionError(
      "ENTRY_INVALID",
      `The value does not match the schema of ${JSON.stringify(customType)} (${reading.problems.join("; ")}); correct it and append again.`,
      { details: { customType, problems: reading.problems }, cause: reading.cause },
    );
  }
}

/** Returns a value as it will be after it is written and read back. */
function toStoredForm(data: unknown): unknown {
  const record: unknown = JSON.parse(encodeRecord({ data }));
  return isJsonRecord(record) ? record["data"] : undefined;
}

function readState<Schema extends StandardSchema>(schema: Schema, value: unknown): Reading<OutputOf<Schema>> {
  try {
    const result = schema["~standard"].validate(value);
    if (result instanceof Promise) {
      // An unhandled rejection would end the process. The promise itself is reported instead.
      result.catch(() => undefined);
      return { ok: false, problems: [ASYNCHRONOUS] };
    }
    if (result.issues === undefined) return { ok: true, value: result.value };
    const problems = result.issues.map(({ path = [], message }) => ({
      path: path.map((key) => (typeof key === "object" ? key.key : key)),
      message,
    }));
    return { ok: false, problems: formatProblems(problems) };
  } catch (cause) {
    // A transform or refinement of the extension threw because of this value.
    return { ok: false, problems: [`the schema failed: ${getErrorMessage(cause)}`], cause };
  }
}

function reportOnce(
  session: StateSession,
  entry: CustomEntry,
  problems: readonly string[],
  onIssue = session.reportIssue?.bind(session),
): void {
  if (onIssue === undefined) return;
  const known = reported.get(session) ?? new WeakSet();
  reported.set(session, known);
  if (known.has(entry)) return;
  known.add(entry);
  const about = `entry ${entry.id} of ${JSON.stringify(entry.customType)}: ${problems.join("; ")}`;
  onIssue(makeIssue("STATE_INVALID", NOWHERE, entry.id, about));
}
