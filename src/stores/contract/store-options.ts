import { HIT_RULES } from "../../catalog/search/search.ts";
import {
  CALLBACK,
  COUNT,
  FLAG,
  makeChoiceRule,
  OBJECT,
  type OptionRules,
  SIGNAL,
  TEXT,
} from "../../core/format/options.ts";
import { NEW_SESSION_RULES, SESSION_RULES } from "../../session/manager/session-options.ts";
import type {
  CreateInStoreOptions,
  ImportIntoStoreOptions,
  ListInStoreOptions,
  OpenInStoreOptions,
  OpenOrCreateOptions,
  SearchInStoreOptions,
  StoreSessionOptions,
} from "./session-store.ts";

const STORE_SESSION_RULES: OptionRules<StoreSessionOptions> = {
  now: SESSION_RULES.now,
  beforePersist: SESSION_RULES.beforePersist,
  persistLeafOnClose: SESSION_RULES.persistLeafOnClose,
  mustExist: SESSION_RULES.mustExist,
};

/** Validation rules for the options of `create` in every store. */
export const CREATE_RULES: OptionRules<Omit<CreateInStoreOptions, "id">> = {
  ...STORE_SESSION_RULES,
  ...NEW_SESSION_RULES,
  cwd: TEXT,
  createAtOnce: FLAG,
};

/** Validation rules for the options of `open` in every store. */
export const OPEN_RULES: OptionRules<OpenInStoreOptions> = {
  ...STORE_SESSION_RULES,
  mode: makeChoiceRule("read-write", "read-only"),
  cwd: TEXT,
  signal: SIGNAL,
};

/** Validation rules for the options of `openOrCreate` in every store. */
export const OPEN_OR_CREATE_RULES: OptionRules<OpenOrCreateOptions> = {
  ...STORE_SESSION_RULES,
  ...NEW_SESSION_RULES,
  cwd: TEXT,
  signal: SIGNAL,
};

/** Validation rules for the options of `importBytes` and `exportBytes` in every store. */
export const IMPORT_RULES: OptionRules<ImportIntoStoreOptions> = { signal: SIGNAL };

/** Validation rules for the options of `list` in every store. */
export const LIST_RULES: OptionRules<ListInStoreOptions> = {
  cwd: TEXT,
  name: TEXT,
  idPrefix: TEXT,
  limit: COUNT,
  after: OBJECT,
  signal: SIGNAL,
};

/** Validation rules for the options of `search` in every store. */
export const SEARCH_RULES: OptionRules<SearchInStoreOptions> = {
  ...HIT_RULES,
  cwd: TEXT,
  onSkipped: CALLBACK,
  signal: SIGNAL,
};
