import type { PriceFunction } from "../../catalog/usage/usage-groups.ts";
import { pickDefined } from "../../core/format/json.ts";
import { assertOptions, CALLBACK, OBJECT, type OptionRules, TEXT } from "../../core/format/options.ts";
import { PLACES_RULES, type SessionPlaces } from "../../session/log/session-paths.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import type { HideSecrets } from "../recall/cleaner.ts";
import { Recall } from "../recall/recall.ts";
import { makeFileSource, makeStoreSource } from "../recall/session-source.ts";

/** Options for the sessions that agents can query, and for the content they receive. */
export interface RecallOptions {
  /** Default project for calls. */
  readonly cwd: string;
  /** Store that contains the sessions. Default: session files. */
  readonly store?: SessionStore;
  /**
   * A single flat folder of session files, which is searched as a whole. Default: the folders of all projects, including imported
   * sessions.
   */
  readonly sessionDir?: string;
  /** Locations of session files, if they differ from pi's. */
  readonly places?: SessionPlaces;
  /**
   * Removes secrets from strings before any further processing. An error that it throws is returned as the answer. Default: texts
   * are unchanged.
   */
  readonly hideSecrets?: HideSecrets;
  /** Returns prices for calls of models whose records state no cost. */
  readonly prices?: PriceFunction;
  /**
   * Environment variables, which may contain the id of the running session. Searches exclude that session. Default:
   * `process.env`.
   */
  readonly env?: { readonly [name: string]: string | undefined };
  /** Returns the current time, in Unix milliseconds. Default: the system clock. */
  readonly now?: () => number;
}

const RECALL_RULES: OptionRules<RecallOptions> = {
  cwd: TEXT,
  store: OBJECT,
  sessionDir: TEXT,
  places: OBJECT,
  hideSecrets: CALLBACK,
  prices: CALLBACK,
  env: OBJECT,
  now: CALLBACK,
};

/**
 * Creates the shared state of the tools.
 *
 * @throws {TypeError} If an option is invalid.
 */
export function makeRecall(options: RecallOptions): Recall {
  assertOptions(options, RECALL_RULES);
  const { cwd, store, sessionDir, places, hideSecrets, prices, env = process.env, now = Date.now } = options;
  if (places !== undefined) assertOptions<SessionPlaces>(places, PLACES_RULES);
  const scope = { ...pickDefined({ sessionDir, places }), includeImported: sessionDir === undefined };
  const source = store === undefined ? makeFileSource(scope) : makeStoreSource(store);
  return new Recall({
    source,
    cwd,
    project: sessionDir === undefined ? cwd : undefined,
    env,
    hide: hideSecrets,
    now,
    prices,
  });
}
