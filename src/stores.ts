/**
 * Sessions in other places than files: in memory, in a database, in a backend of one's own.
 *
 * @module
 */

export {
  type RedactEverywhereOptions,
  type RedactedPlace,
  redactText,
  type StandingText,
  type TextRedaction,
} from "./catalog/redaction/redact-text.ts";
export type { PlaceKind } from "./catalog/redaction/text-places.ts";
export { type EntryFacts, factsAfter, type SessionFacts } from "./core/facts/session-facts.ts";
export { COMMUTING_TYPES, staleLeaf } from "./session/log/expected-leaf.ts";
export { selectSessions } from "./stores/contract/select-sessions.ts";
export type {
  Amendment,
  AppendCondition,
  AppendReceipt,
  BackendListQuery,
  BackendSearchQuery,
  BackendSupport,
  FactsWithUsage,
  FoundLine,
  LinePage,
  ListPosition,
  NewEntryLine,
  NewLine,
  SessionBackend,
  StoredLine,
} from "./stores/contract/session-backend.ts";
export type {
  CloseStoreOptions,
  CreateInStoreOptions,
  ImportIntoStoreOptions,
  ListInStoreOptions,
  OpenInStoreOptions,
  SearchInStoreOptions,
  SessionStore,
  StoreSupport,
} from "./stores/contract/session-store.ts";
export { copySession } from "./stores/contract/session-store.ts";
export { sessionExists, sessionNotFound, writesLost } from "./stores/contract/store-errors.ts";
export { type FileStoreOptions, fileStore } from "./stores/file/file-store.ts";
export { memoryStore, type RemoteStoreOptions, remoteStore } from "./stores/remote/remote-store.ts";
