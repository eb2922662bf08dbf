import { factsAfter } from "../../core/facts/session-facts.ts";
import { COMMUTING_TYPES, staleLeaf } from "../../session/log/expected-leaf.ts";
import { selectSessions } from "./select-sessions.ts";
import { sessionExists, sessionNotFound, writesLost } from "./store-errors.ts";

/**
 * Parts of a `SessionBackend` that backends share: the facts of a session after lines, selecting and sorting a list of facts, the
 * types of entries that never make an append stale, and the errors of the contract.
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
