import type { z } from "zod";
import { kindOf, withArticle } from "./kind-of.ts";

const MAX_PROBLEMS = 20;
const MAX_PROBLEM_LENGTH = 300;
const MAX_VALUE_LENGTH = 40;

/**
 * Describes what is wrong with a value, in place of zod's own messages: what was expected and what was found.
 *
 * Values are named by their kind, never quoted, short wrong constants apart: they may be long or private.
 */
export const wordIssue: z.core.$ZodErrorMap = (issue) => {
  const missing = issue.input === undefined;
  if (issue.code === "invalid_type") {
    if (issue.expected === "nonoptional") return "missing";
    const expected = `expected ${withArticle(issue.expected)}`;
    return missing ? `missing, ${expected}` : `${expected}, found ${kindOf(issue.input)}`;
  }
  if (issue.code === "invalid_value") {
    const expected = `expected ${alternatives(issue.values)}`;
    return missing ? `missing, ${expected}` : `${expected}, found ${quote(issue.input)}`;
  }
  if (issue.code === "invalid_union" && Array.isArray(issue["options"])) {
    return `expected ${alternatives(issue["options"])}`;
  }
  return undefined;
};

/** One thing that is wrong with a value, and where in it. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * Lists what is wrong with a value. Of a failed union, the closest variant is reported.
 *
 * @param issues - What `safeParse` gave.
 * @returns At least one problem, in the order of the schema.
 */
export function listProblems(issues: readonly z.core.$ZodIssue[]): Problem[] {
  const problems: Problem[] = [];
  // Unions hold issues of their own, so open issues are kept on a stack, first on top.
  const open: { issue: z.core.$ZodIssue; path: readonly PropertyKey[] }[] = [];
  const push = (more: readonly z.core.$ZodIssue[], base: readonly PropertyKey[]) => {
    for (const issue of [...more].reverse()) open.push({ issue, path: [...base, ...issue.path] });
  };
  push(issues, []);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { issue, path } = next;
    const closest = issue.code === "invalid_union" ? closestVariant(issue.errors) : undefined;
    if (closest === undefined) problems.push({ path, message: issue.message });
    else push(closest, path);
  }
  return problems;
}

/**
 * Says what is wrong with a value, one line per problem: the place, a colon, and what was expected there.
 *
 * @param error - What `safeParse` gave.
 * @returns At least one line and at most twenty, the last of which tells how many were left out.
 */
export function describeProblems(error: z.core.$ZodError): string[] {
  const lines = listProblems(error.issues).map(lineOf);
  if (lines.length <= MAX_PROBLEMS) return lines;
  const shown = lines.slice(0, MAX_PROBLEMS - 1);
  return [...shown, `and ${lines.length - shown.length} more problems`];
}

/** The variant that fits on the outside (every issue lies inside the value) with the fewest issues. */
function closestVariant(variants: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] | undefined {
  let closest: z.core.$ZodIssue[] | undefined;
  for (const issues of variants) {
    if (issues.length === 0 || issues.some((issue) => issue.path.length === 0)) continue;
    if (closest === undefined || issues.length < closest.length) closest = issues;
  }
  return closest;
}

function lineOf({ path, message }: Problem): string {
  const line = path.length === 0 ? message : `${dotPath(path)}: ${message}`;
  return line.length > MAX_PROBLEM_LENGTH ? `${line.slice(0, MAX_PROBLEM_LENGTH)}…` : line;
}

/** Writes a place in a value as code would: `message.content[0].text`. */
function dotPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, i) => {
      if (typeof key === "number") return `[${key}]`;
      if (typeof key === "symbol" || !/^[\w$]+$/.test(key)) return `[${JSON.stringify(String(key))}]`;
      return i === 0 ? key : `.${key}`;
    })
    .join("");
}

function quote(value: unknown): string {
  return typeof value === "string" && value.length <= MAX_VALUE_LENGTH
    ? JSON.stringify(value)
    : kindOf(value);
}

function alternatives(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(" or ");
}
