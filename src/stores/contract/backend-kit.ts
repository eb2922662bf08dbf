import { factsAfter } from "../../core/facts/session-facts.ts";
import { COMMUTING_TYPES, staleLeaf } from "../../session/log/expected-leaf.ts";
import { selectSessions } from "./select-sessions.ts";
import { sessionExists, sessionNotFound, writesLost } from "./store-errors.ts";

/**
 * Building blocks for `SessionBackend` implementations: updating a session's facts after new lines, selecting and
 * sorting sessions for a list, the entry types that never make an append stale, and the errors that the contract specifies.
 *
 * @remarks Source: docs/stores.md#the-contract
 */
export const backendKit = Object.freeze({
  commutingTypes: COMMUTING_TYPES,
  factsAfter,
  selectSessions,
  sessionExists,
  sessionNotFound,
  staleLeaf,
  writesLost,
});
