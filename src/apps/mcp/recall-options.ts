import type { PriceFunction } from "../../catalog/usage/usage-groups.ts";
import { assertOptions, CALLBACK, OBJECT, type OptionRules, TEXT } from "../../core/format/options.ts";
import { PLACES_RULES, type SessionPlaces } from "../../session/log/session-paths.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import type { HideSecrets } from "../recall/cleaner.ts";
import { Recall } from "../recall/recall.ts";
import { makeFileSource, makeStoreSource } from "../recall/session-source.ts";

/** Which sessions agents can ask about, and what of them they get. */
export interface RecallOptions {
  /** The project whose sessions are meant where a call names none. */
  readonly cwd: string;
  /** Where the sessions are. Default: in files. */
  readonly store?: SessionStore;
  /** One flat folder of session files, which is meant as a whole. Default: the folders of all projects, with what was imported. */
  readonly sessionDir?: string;
  /** Where session files are kept, if not where pi keeps them. */
  readonly places?: SessionPlaces;
  /** Removes secrets from texts before anything is made of them. What it throws becomes the answer. Default: texts stay. */
  readonly hideSecrets?: HideSecrets;
  /** Prices calls of models whose records state no cost. */
  readonly prices?: PriceFunction;
  /** Environment that may name the running session, which is left out of searches. Default: `process.env`. */
  readonly env?: { readonly [name: string]: string | undefined };
  /** Returns Unix milliseconds. Default: the clock. */
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
 * Makes what tools work with.
 *
 * @throws {TypeError} If an option is invalid.
 */
export function makeRecall(options: RecallOptions): Recall {
  assertOptions(options, RECALL_RULES);
  const { cwd, store, sessionDir, places, hideSecrets, prices, env = process.env, now = Date.now } = options;
  if (places !== undefined) assertOptions<SessionPlaces>(places, PLACES_RULES);
  const scope = {
    ...(sessionDir !== undefined && { sessionDir }),
    ...(places !== undefined && { places }),
    includeImported: sessionDir === undefined,
  };
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
