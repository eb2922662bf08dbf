import { z } from "zod";
import { isJsonRecord } from "./json.ts";
import { listProblems, wordIssue } from "./problems.ts";

const MAX_BAD_ELEMENTS = 10;

/**
 * Makes the schema of a list that stops checking after ten bad elements.
 *
 * zod's own array keeps an issue for every bad element, which one hostile line can turn into millions.
 */
export function listOf<T>(element: z.ZodType<T, T>): z.ZodType<T[], T[]> {
  return z
    .custom<T[]>(Array.isArray, "expected an array")
    .superRefine((list, context) => refineAll(element, list.entries(), context));
}

/** Makes the schema of an object that maps any name to one kind of value; bounded like `listOf`. */
export function recordOf<T>(value: z.ZodType<T, T>): z.ZodType<{ [name: string]: T }, { [name: string]: T }> {
  return z
    .custom<{ [name: string]: T }>(isJsonRecord, "expected an object")
    .superRefine((record, context) => refineAll(value, Object.entries(record), context));
}

/**
 * Makes the schema of a field that is required in the type, although JSON omits it when it is undefined.
 *
 * Unlike with `.exactOptional()`, the key is required in the type and may be absent in the data.
 */
export function orUndefined<T>(value: z.ZodType<T, T>): z.ZodType<T | undefined, T | undefined> {
  return z.optional(value);
}

function refineAll<T>(
  schema: z.ZodType<T, T>,
  parts: Iterable<[number | string, unknown]>,
  context: z.core.$RefinementCtx<unknown>,
): void {
  let bad = 0;
  for (const [key, part] of parts) {
    const result = schema.safeParse(part, { error: wordIssue });
    if (result.success) continue;
    for (const { path, message } of listProblems(result.error.issues)) {
      context.addIssue({ code: "custom", message, path: [key, ...path] });
    }
    bad++;
    if (bad === MAX_BAD_ELEMENTS) return;
  }
}
