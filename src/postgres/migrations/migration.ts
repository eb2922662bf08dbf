import type { Names } from "../names.ts";

/** A step between two versions of the tables. */
export interface Migration {
  /** Version of the tables after the step. */
  readonly version: number;
  /** Its purpose, in a few words. */
  readonly purpose: string;
  /** Statements of the step. */
  up(names: Names): string[];
  /** Statements that revert it. */
  down(names: Names): string[];
}
