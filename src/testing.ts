/**
 * sessiontree/testing: the tests that every session store passes, for whoever writes one.
 *
 * @module
 */

export { type FaultyBackend, faultyBackend } from "./stores/suite/faulty-backend.ts";
export type { StoreFaults, StoreUnderTest } from "./stores/suite/kit.ts";
export { type SessionStoreSuiteOptions, sessionStoreSuite } from "./stores/suite/store-suite.ts";
