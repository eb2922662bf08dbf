import fc from "fast-check";
import { SEED, scaleCount } from "./share.ts";

export * from "fast-check";

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });

/** Number of random cases that a property tries in a full run by default. */
const USUAL_RUNS = 100;

export function assert<Ts>(property: fc.IAsyncProperty<Ts>, options?: fc.Parameters<Ts>): Promise<void>;
export function assert<Ts>(property: fc.IProperty<Ts>, options?: fc.Parameters<Ts>): void;
/** Tries this run's share of a property's cases. A property that fails prints its seed. */
export function assert<Ts>(property: fc.IRawProperty<Ts>, options?: fc.Parameters<Ts>): void | Promise<void> {
  return fc.assert(property, { ...options, numRuns: scaleCount(options?.numRuns ?? USUAL_RUNS) });
}
