import { BACKEND_CONTRACT } from "./backend-contract.ts";
import type { PartsUnderTest, StorePart, StoreUnderTest, SuiteTest } from "./kit.ts";
import { MANY_SESSIONS, SESSION_ROWS } from "./many-sessions.ts";
import { BYTES, ONE_SESSION } from "./one-session.ts";
import { SEARCHES } from "./searches.ts";
import { BEGINNINGS, FAULTS, WRITERS } from "./writers.ts";

/** Options for the suite. */
export interface SessionStoreSuiteOptions {
  /** Registers a test with the test runner: `test` from node:test, Vitest, Jest, Mocha, … */
  readonly test: (name: string, run: () => Promise<void>) => unknown;
  /** Creates an empty store. Called for each test. */
  readonly factory: () => StoreUnderTest | Promise<StoreUnderTest>;
  /** Parts that the factory does not provide. Tests that require these parts are omitted instead of failing. */
  readonly without?: readonly StorePart[];
}

const TESTS: readonly SuiteTest[] = [
  ...ONE_SESSION,
  ...BYTES,
  ...MANY_SESSIONS,
  ...SESSION_ROWS,
  ...SEARCHES,
  ...WRITERS,
  ...FAULTS,
  ...BACKEND_CONTRACT,
  ...BEGINNINGS,
];

/**
 * Registers the tests that every session store must pass.
 *
 * Tests the contract of `SessionStore` and, if the store has a backend, of `SessionBackend`: order, bytes, lists, search,
 * multiple writers, conditions, and failing calls. Works with any test runner.
 *
 * @remarks Source: docs/stores.md
 */
export function sessionStoreSuite({ test, factory, without = [] }: SessionStoreSuiteOptions): void {
  for (const { name, needs, run } of TESTS) {
    if (needs.some((part) => without.includes(part))) continue;
    test(name, async () => {
      const under = await factory();
      try {
        await run(getSuiteParts(under));
      } finally {
        await under.store.close({ discard: true });
        await under.dispose?.();
      }
    });
  }
}

/** Returns the parts provided by the factory. Reading a missing part throws. */
function getSuiteParts(under: StoreUnderTest): PartsUnderTest {
  return {
    store: under.store,
    get another() {
      return given("another", under.another);
    },
    get backend() {
      return given("backend", under.backend);
    },
    get faults() {
      return given("faults", under.faults);
    },
  };
}

function given<T>(part: StorePart, value: T | undefined): T {
  if (value !== undefined) return value;
  throw new TypeError(`the factory gave no "${part}"; give one, or say so with without: ["${part}"]`);
}
