import type { Names } from "../names.ts";

/** One step between two versions of the tables. */
export interface Migration {
  /** Version of the tables once the step is made. */
  readonly version: number;
  /** What it is for, in a few words. */
  readonly purpose: string;
  /** Statements that make the step. */
  up(names: Names): string[];
  /** Statements that take it back. */
  down(names: Names): string[];
}
