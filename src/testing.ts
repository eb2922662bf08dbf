/**
 * sessiontree/testing: the test suite that every session store must pass, for authors of stores.
 *
 * @module
 */

export { type FaultyBackend, faultyBackend } from "./stores/suite/faulty-backend.ts";
export type { StoreFaults, StoreUnderTest } from "./stores/suite/kit.ts";
export { type SessionStoreSuiteOptions, sessionStoreSuite } from "./stores/suite/store-suite.ts";
