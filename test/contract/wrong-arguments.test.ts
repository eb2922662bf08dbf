import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSessionError } from "sessiontree";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isTypedError, UNPRINTABLE_VALUES } from "../support/hostile-values.ts";
import { CONSTRUCTOR_ARGS, EXPORTED, EXPORTED_OBJECTS, FUNCTION_ARGS } from "./support/exported-calls.ts";

/** Thrown by a value of this test when it is read. It is the caller's own error. */
const OWN_ERROR = new Error("read");

/** Values that a program in JavaScript may pass. */
const VALUES: readonly (readonly [string, () => unknown])[] = [
  ["undefined", () => undefined],
  ["null", () => null],
  ["0", () => 0],
  ["NaN", () => Number.NaN],
  ["an empty string", () => ""],
  ["a string", () => "x"],
  ["true", () => true],
  ["an empty array", () => []],
  ["an array of null", () => [null]],
  ["an object", () => ({})],
  ["an object without text", () => structuredClone(UNPRINTABLE_VALUES[0])],
  ["an object that throws", () => new Proxy({}, { get: throwOwnError })],
  ["a promise", () => Promise.resolve(1)],
  ["a function", () => () => undefined],
];

function throwOwnError(): never {
  throw OWN_ERROR;
}

/** Arguments that are not checked, by call and position, each with the reason. */
const UNCHECKED: ReadonlyMap<string, string> = new Map([
  ...listUnchecked("an object without text in place of a number fails in a comparison", [
    "compactWithoutModel 1",
    "findCutPoint 1",
    "findCutPoint 2",
    "findCutPoint 3",
    "findTurnStartIndex 1",
    "findTurnStartIndex 2",
    "prepareBranchEntries 1",
    "shouldCompact 0",
    "shouldCompact 1",
    "OpenAIAgentsSession#getItems 0",
  ]),
  ...listUnchecked("the caller is creating an error", ["new SessionError 1", "new SessionError 2"]),
  ...listUnchecked("authors of backends use it, with the compiler", [
    "backendKit#factsAfter 0",
    "backendKit#factsAfter 1",
    "backendKit#selectSessions 0",
    "backendKit#selectSessions 1",
    "faultyBackend 0",
    "sessionStoreSuite 0",
  ]),
  ...listUnchecked("the SDK calls it", [
    "claudeSessionStore#append 0",
    "claudeSessionStore#append 1",
    "claudeSessionStore#delete 0",
    "claudeSessionStore#listSubkeys 0",
    "claudeSessionStore#load 0",
    "OpenAIAgentsSession#applyHistoryMutations 0",
    "OpenAIAgentsSession#applyHistoryTransaction 0",
    "OpenAIAgentsSession#getItems 1",
    "SessionTreeSaver#list 1",
    "SessionTreeSaver#put 2",
    "SessionTreeSaver#putWrites 1",
  ]),
  ...listUnchecked(
    "the records come from read, and the other fields from the caller's own code",
    Object.keys(EXPORTED_OBJECTS).flatMap((name) =>
      name.startsWith("importers.") ? [`${name}#convert 0`] : [],
    ),
  ),
  ...listUnchecked(
    "chunks are checked by no reader, because a file has many",
    ["claude-code", "copilot", "kimi", "pi-v4", "qwen"].map((name) => `importers.${name}#read 0`),
  ),
]);

function listUnchecked(reason: string, places: readonly string[]): [string, string][] {
  return places.map((place) => [place, reason]);
}

/** Call of an exported function, constructor, or method. */
interface ExportedCall {
  readonly name: string;
  readonly makeArgs: () => readonly unknown[];
  readonly call: (args: readonly unknown[]) => unknown;
}

const CALLS: readonly ExportedCall[] = [
  ...Object.entries(FUNCTION_ARGS).map(([name, makeArgs]) => ({
    name,
    makeArgs,
    call: (args: readonly unknown[]) => Reflect.apply(getFunction(name), undefined, [...args]),
  })),
  ...Object.entries(CONSTRUCTOR_ARGS).map(([name, makeArgs]) => ({
    name: `new ${name}`,
    makeArgs,
    call: (args: readonly unknown[]) => Reflect.construct(getFunction(name), [...args]),
  })),
  ...Object.entries(EXPORTED_OBJECTS).flatMap(([name, { make, args: all }]) =>
    Object.entries(all).map(([method, makeArgs]) => ({
      name: `${name}#${method}`,
      makeArgs,
      call: async (args: readonly unknown[]) => callMethod(await make(), method, args),
    })),
  ),
];

function getFunction(name: string): (...args: readonly unknown[]) => unknown {
  const value = EXPORTED.get(name);
  if (!isFunction(value)) throw new Error(`${name} is not an exported function.`);
  return value;
}

function isFunction(value: unknown): value is (...args: readonly unknown[]) => unknown {
  return typeof value === "function";
}

/** Calls a method, and then closes its object. */
async function callMethod(target: object, name: string, args: readonly unknown[]): Promise<void> {
  const method: unknown = Reflect.get(target, name);
  if (!isFunction(method)) throw new Error(`${name} is not a method.`);
  try {
    await useResult(method.apply(target, [...args]));
  } finally {
    const close: unknown = Reflect.get(target, "close");
    if (name !== "close" && isFunction(close)) await close.call(target);
  }
}

/** Waits for a result. Requests the first value of an iterator, and ends it even if it waits for other processes. */
async function useResult(given: unknown): Promise<void> {
  const result: unknown = await given;
  const next: unknown = Reflect.get(Object(result), "next");
  const end: unknown = Reflect.get(Object(result), "return");
  if (!isFunction(next) || !isFunction(end)) return;
  await Promise.all([next.call(result), end.call(result)]);
}

/** Returns the error of a call; undefined if there is none. */
async function findError({ call }: ExportedCall, args: readonly unknown[]): Promise<unknown> {
  try {
    await useResult(call(args));
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Returns the errors of the engine, by position, of a call with each value in each position, with and without the arguments after it. */
async function findEngineErrors(one: ExportedCall): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const position of one.makeArgs().keys()) {
    for (const [value, make] of VALUES) {
      for (const end of [undefined, position + 1]) {
        const error = await findError(one, one.makeArgs().with(position, make()).slice(0, end));
        if (error === undefined || error === OWN_ERROR || isTypedError(error)) continue;
        found.set(`${one.name} ${position}`, `${value}: ${error instanceof Error ? error.stack : error}`);
      }
    }
  }
  return found;
}

/** Returns the names of an object's methods that have parameters, except inherited ones of other packages. */
function listMethods(target: object): string[] {
  const isClass = isFunction(target);
  const prototype: unknown = isClass ? target : Object.getPrototypeOf(target);
  const own = [
    target,
    ...(typeof prototype === "object" && prototype !== Object.prototype ? [prototype] : []),
  ];
  return own.flatMap((holder) =>
    Object.entries(Object.getOwnPropertyDescriptors(holder)).flatMap(([name, { value }]) =>
      isFunction(value) &&
      name !== "constructor" &&
      name !== "prototype" &&
      /^[^(]*\([^)]/.test(String(value))
        ? [name]
        : [],
    ),
  );
}

const home = mkdtempSync(join(tmpdir(), "test-sessiontree-"));
const before = process.cwd();

beforeAll(() => {
  // Some of these calls use the folders of the user and of the process.
  mkdirSync(join(home, "cwd"));
  process.chdir(join(home, "cwd"));
  vi.stubEnv("HOME", home);
  vi.stubEnv("XDG_CACHE_HOME", join(home, "cache"));
});

afterAll(() => {
  vi.unstubAllEnvs();
  process.chdir(before);
  rmSync(home, { recursive: true });
});

describe("an argument of the wrong type", () => {
  test.each(CALLS)("is named, or accepted, by $name", async (one) => {
    const found = await findEngineErrors(one);
    const unexpected = [...found].filter(([place]) => !UNCHECKED.has(place));
    expect(unexpected).toEqual([]);
    // No exception outlives its reason.
    const excepted = [...UNCHECKED.keys()].filter((place) => place.startsWith(`${one.name} `));
    expect([...found.keys()]).toEqual(excepted);
  });
});

test.each(CALLS)("the other arguments of $name are valid", async (one) => {
  const error = await findError(one, one.makeArgs());
  // Many of these sessions and files do not exist.
  if (!isSessionError(error)) expect(error).toBeUndefined();
});

test("every exported function, constructor, and method with parameters is called", async () => {
  const functions = [...EXPORTED].flatMap(([name, value]) => (isFunction(value) ? [name] : []));
  const missing = functions.filter((name) => !(name in FUNCTION_ARGS) && !(name in CONSTRUCTOR_ARGS));
  for (const [name, { make, args }] of Object.entries(EXPORTED_OBJECTS))
    missing.push(
      ...listMethods(await make()).flatMap((method) => (method in args ? [] : `${name}#${method}`)),
    );
  expect(missing).toEqual(["SessionManager"]);
  const named = new Set(CALLS.map(({ name }) => name));
  expect([...UNCHECKED.keys()].filter((place) => !named.has(place.replace(/ \d+$/, "")))).toEqual([]);
});
