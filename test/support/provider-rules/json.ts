/** Returns a value's fields as a server sees them: a record, or nothing. */
export function fields(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** Returns the elements of a value that should be a list. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a string, or an empty one. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns the ids that occur more than once, each once. */
export function repeated(ids: readonly string[]): string[] {
  return [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))];
}

/** Fields whose texts are JSON that a server decodes. */
const DECODED = new Set(["arguments"]);

/**
 * Returns a server's errors for lone surrogates, which no UTF-8 text contains, anywhere in a request.
 *
 * @returns One line for each; empty if there is none.
 */
export function unicodeFaults(value: unknown, place = "request"): string[] {
  if (typeof value === "string") {
    return /\p{Surrogate}/u.test(value) ? [`${place}: str is not valid UTF-8: surrogates not allowed`] : [];
  }
  if (Array.isArray(value)) return value.flatMap((one, at) => unicodeFaults(one, `${place}[${at}]`));
  return Object.entries(fields(value)).flatMap(([name, one]) => [
    ...unicodeFaults(name, `a name in ${place}`),
    ...unicodeFaults(one, `${place}.${name}`),
    ...(DECODED.has(name) && typeof one === "string" ? unicodeFaults(decoded(one), `${place}.${name}`) : []),
  ]);
}

function decoded(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
