import { z } from "zod";
import { getOrAdd } from "./group-by.ts";
import { isJsonObject, isJsonRecord, isJsonValue } from "./json.ts";
import type { AnyField, AnyObjectShape } from "./shape.ts";
import { describeType, type Problem, withArticle } from "./validation-problems.ts";

const MAX_BAD_ELEMENTS = 10;
const MAX_VALUE_LENGTH = 40;

const made = new WeakMap<AnyField, z.ZodType>();

/** Returns the zod schema for a shape, always the same schema for the same shape. Unknown fields are accepted. */
export function toZodSchema(shape: AnyField): z.ZodType {
  return getOrAdd(made, shape, () => buildSchema(shape));
}

/**
 * Returns the problems with a value, in the order of the shape. For a union that does not match, reports the closest variant.
 *
 * @returns Empty if the value has the shape.
 */
export function collectProblems(shape: AnyField, value: unknown): Problem[] {
  const result = toZodSchema(shape).safeParse(value, { error: formatIssue });
  return result.success ? [] : listProblems(result.error.issues);
}

function buildSchema(shape: AnyField): z.ZodType {
  switch (shape.kind) {
    case "string":
      return z.string();
    case "number":
      return z.number();
    case "boolean":
      return z.boolean();
    case "null":
      return z.null();
    case "anything":
      return z.unknown();
    case "words":
      return z.literal([...shape.words]);
    case "json":
      // One check instead of a recursive schema, so that depth cannot exhaust the call stack.
      return shape.isObject
        ? z.custom(isJsonObject, "expected a JSON object")
        : z.custom(isJsonValue, "expected JSON data");
    case "list":
      return makeBoundedSchema<unknown[]>(Array.isArray, `expected ${shape.expected}`, shape.of);
    case "map":
      return makeBoundedSchema(isJsonRecord, "expected an object", shape.of);
    case "oneOf":
      return z.union(shape.of.map(toZodSchema), { error: `expected ${shape.expected}` });
    case "optional":
      return shape.orUndefined ? z.optional(toZodSchema(shape.of)) : z.exactOptional(toZodSchema(shape.of));
    case "object":
      return makeObjectSchema(shape);
    case "variants": {
      const [first, ...more] = [...shape.byTag.values()].map(makeObjectSchema);
      if (first === undefined) throw new Error("A shape has no variants.");
      return z.discriminatedUnion(shape.tag, [first, ...more]);
    }
  }
}

function makeObjectSchema(shape: AnyObjectShape): z.ZodObject {
  const fields = Object.entries(shape.fields).map(([name, field]) => [name, toZodSchema(field)]);
  return z.looseObject(Object.fromEntries(fields));
}

/**
 * Creates a schema for an array, or an object with any field names, that stops checking after ten invalid elements.
 *
 * zod's own schemas record an issue for every invalid element, and a single malicious line can cause millions.
 */
function makeBoundedSchema<T extends object>(
  fits: (value: unknown) => value is T,
  expected: string,
  element: AnyField,
): z.ZodType {
  return z.custom<T>(fits, expected).superRefine((parts, context) => {
    let bad = 0;
    for (const [key, part] of Array.isArray(parts) ? parts.entries() : Object.entries(parts)) {
      const problems = collectProblems(element, part);
      if (problems.length === 0) continue;
      for (const { path, message } of problems) {
        context.addIssue({ code: "custom", message, path: [key, ...path] });
      }
      bad++;
      if (bad === MAX_BAD_ELEMENTS) return;
    }
  });
}

/**
 * Describes a problem with a value by stating the expected and actual values. Replaces zod's own messages.
 *
 * Values are described by their type and never quoted, except for short invalid constants, because they may be long or private.
 */
const formatIssue: z.core.$ZodErrorMap = (issue) => {
  const missing = issue.input === undefined;
  if (issue.code === "invalid_type") {
    if (issue.expected === "nonoptional") return "missing";
    const expected = `expected ${withArticle(issue.expected)}`;
    return missing ? `missing, ${expected}` : `${expected}, found ${describeType(issue.input)}`;
  }
  if (issue.code === "invalid_value") {
    const expected = `expected ${formatAlternatives(issue.values)}`;
    return missing ? `missing, ${expected}` : `${expected}, found ${quoteValue(issue.input)}`;
  }
  if (issue.code === "invalid_union" && Array.isArray(issue["options"])) {
    return `expected ${formatAlternatives(issue["options"])}`;
  }
  return undefined;
};

function listProblems(issues: readonly z.core.$ZodIssue[]): Problem[] {
  const problems: Problem[] = [];
  // Unions contain nested issues, so open issues are kept on a stack with the first one on top.
  const open: { issue: z.core.$ZodIssue; path: readonly PropertyKey[] }[] = [];
  const push = (more: readonly z.core.$ZodIssue[], base: readonly PropertyKey[]) => {
    for (const issue of [...more].reverse()) open.push({ issue, path: [...base, ...issue.path] });
  };
  push(issues, []);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { issue, path } = next;
    const closest = issue.code === "invalid_union" ? findClosestVariant(issue.errors) : undefined;
    if (closest === undefined) problems.push({ path, message: issue.message });
    else push(closest, path);
  }
  return problems;
}

/** Returns the variant with the fewest issues among those with issues only inside the value. */
function findClosestVariant(variants: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] | undefined {
  let closest: z.core.$ZodIssue[] | undefined;
  for (const issues of variants) {
    if (issues.length === 0 || issues.some((issue) => issue.path.length === 0)) continue;
    if (closest === undefined || issues.length < closest.length) closest = issues;
  }
  return closest;
}

function quoteValue(value: unknown): string {
  return typeof value === "string" && value.length <= MAX_VALUE_LENGTH
    ? JSON.stringify(value)
    : describeType(value);
}

function formatAlternatives(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(" or ");
}
