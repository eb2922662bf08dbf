import type { CustomEntry, SessionEntry } from "../../core/format/entry.ts";
import { getErrorMessage, SessionError } from "../../core/format/errors.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { formatProblems } from "../../core/format/validation-problems.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { makeIssue } from "../../core/jsonl/issue-log.ts";

/** What extension state needs of a session; a `SessionManager` has it. */
export interface StateSession {
  appendCustomEntry(customType: string, data?: unknown): string;
  /** The path leaf → root, entries of one type only. */
  walkUp(options: { type: string }): Iterable<SessionEntry>;
  /** All entries in file order. */
  getEntries(): readonly SessionEntry[];
  reportIssue(issue: SessionIssue): void;
}

/**
 * The part of a [Standard Schema](https://standardschema.dev) that is used: schemas of zod, valibot, arktype and others are such.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    /** Returns what the value becomes, or what is wrong with it. A promise is refused: entries are read without waiting. */
    readonly validate: (value: unknown) =>
      | { readonly value: Output; readonly issues?: undefined }
      | {
          readonly issues: readonly {
            readonly message: string;
            readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
          }[];
        }
      | Promise<unknown>;
    /** For the compiler alone. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A kind of state that an extension stores in sessions, typed by its schema. */
export interface EntryType<
  Schema extends StandardSchema,
  Input = NonNullable<Schema["~standard"]["types"]>["input"],
  Output = NonNullable<Schema["~standard"]["types"]>["output"],
> {
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
  append(session: StateSession, data: Input): string;

  /**
   * Returns the latest value on the active path that fits the schema; undefined if there is none.
   *
   * Reports and skips later values that do not fit.
   *
   * @remarks Cost: O(path) in heads at worst, plus the bodies of the custom entries up to the result.
   */
  latest(session: StateSession): Output | undefined;

  /**
   * Returns all values of the session that fit the schema, from every branch, in file order. Reports the others.
   *
   * @remarks Cost: O(file).
   */
  all(session: StateSession): Output[];
}

type InputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["input"];

type OutputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly string[]; readonly cause?: unknown };

/** zod answers with a promise to a transform that throws, too. */
const ASYNCHRONOUS =
  "the schema answered with a promise, since it is asynchronous or threw an error; pass one that answers at once";

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
 * @param schema - A synchronous Standard Schema, such as one of zod or valibot. Defaults and transforms apply when a value is read.
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
export function defineEntryType<Schema extends StandardSchema>(
  customType: string,
  schema: Schema,
): EntryType<Schema> {
  if (typeof customType !== "string" || customType === "") {
    throw new TypeError("An entry type needs a name; pass a non-empty text.");
  }
  const isOurs = (entry: SessionEntry): entry is CustomEntry =>
    entry.type === "custom" && entry.customType === customType;
  const readEntry = (session: StateSession, entry: CustomEntry): Reading<OutputOf<Schema>> => {
    const reading = readState(schema, entry.data);
    if (!reading.ok) reportOnce(session, entry, reading.problems);
    return reading;
  };
  return Object.freeze({
    customType,
    schema,
    append(session: StateSession, data: InputOf<Schema>): string {
      assertFits(customType, schema, data);
      return session.appendCustomEntry(customType, data);
    },
    latest(session: StateSession): OutputOf<Schema> | undefined {
      for (const entry of session.walkUp({ type: "custom" })) {
        if (!isOurs(entry)) continue;
        const reading = readEntry(session, entry);
        if (reading.ok) return reading.value;
      }
      return undefined;
    },
    all(session: StateSession): OutputOf<Schema>[] {
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

function assertFits(customType: string, schema: StandardSchema, data: unknown): void {
  // What JSON changes (a Date, NaN) must fail now, not when the session is opened again.
  for (const value of [data, toStoredForm(data)]) {
    const reading = readState(schema, value);
    if (reading.ok) continue;
    throw new SessionError(
      "ENTRY_INVALID",
      `The value does not fit the schema of ${JSON.stringify(customType)} (${reading.problems.join("; ")}); correct it and append again.`,
      { details: { customType, problems: reading.problems }, cause: reading.cause },
    );
  }
}

/** Returns a value as it will be once written and read. */
function toStoredForm(data: unknown): unknown {
  const record: unknown = JSON.parse(encodeRecord({ data }));
  return isJsonRecord(record) ? record["data"] : undefined;
}

function readState<Schema extends StandardSchema>(schema: Schema, value: unknown): Reading<OutputOf<Schema>> {
  try {
    const result = schema["~standard"].validate(value);
    if (result instanceof Promise) {
      // Its failure must not end the process: that it is a promise is reported instead.
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

function reportOnce(session: StateSession, entry: CustomEntry, problems: readonly string[]): void {
  const known = reported.get(session) ?? new WeakSet();
  reported.set(session, known);
  if (known.has(entry)) return;
  known.add(entry);
  const about = `entry ${entry.id} of ${JSON.stringify(entry.customType)}: ${problems.join("; ")}`;
  session.reportIssue(makeIssue("STATE_INVALID", NOWHERE, entry.id, about));
}
