/**
 * Session stores: in files, in memory, or over a custom backend, such as a database.
 *
 * @module
 */

export {
  type RedactEverywhereOptions,
  type RedactedPlace,
  redactEverywhere,
  type StandingText,
  type TextRedaction,
} from "./catalog/redaction/redact-text.ts";
export type { SessionFacts } from "./core/facts/session-facts.ts";
export { backendKit } from "./stores/contract/backend-kit.ts";
export type {
  Amendment,
  AppendCondition,
  AppendReceipt,
  BackendListQuery,
  BackendSearchQuery,
  BackendSupport,
  FoundLine,
  LinePage,
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
  OpenOrCreateOptions,
  SearchInStoreOptions,
  SessionStore,
  StoreSupport,
} from "./stores/contract/session-store.ts";
export { copySession } from "./stores/contract/session-store.ts";
export { type FileStoreOptions, fileStore } from "./stores/file/file-store.ts";
export { memoryStore, type RemoteStoreOptions, remoteStore } from "./stores/remote/remote-store.ts";
