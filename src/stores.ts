/**
 * Sessions in other places than files: in memory, in a database, in a backend of one's own.
 *
 * @module
 */

export { type EntryFacts, factsAfter, type SessionFacts } from "./catalog/session-facts.ts";
export { COMMUTING_TYPES, staleLeaf } from "./log/expected-leaf.ts";
export {
  type RedactEverywhereOptions,
  type RedactedPlace,
  redactText,
  type StandingText,
  type TextRedaction,
} from "./redaction/redact-text.ts";
export type { PlaceKind } from "./redaction/text-places.ts";
export { type FileStoreOptions, fileStore } from "./stores/file-store.ts";
export { memoryStore, type RemoteStoreOptions, remoteStore } from "./stores/remote-store.ts";
export { selectSessions } from "./stores/select-sessions.ts";
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
} from "./stores/session-backend.ts";
export type {
  CloseStoreOptions,
  CreateInStoreOptions,
  ImportIntoStoreOptions,
  ListInStoreOptions,
  OpenInStoreOptions,
  SearchInStoreOptions,
  SessionStore,
  StoreSupport,
} from "./stores/session-store.ts";
export { copySession } from "./stores/session-store.ts";
export { sessionExists, sessionNotFound, writesLost } from "./stores/store-errors.ts";
