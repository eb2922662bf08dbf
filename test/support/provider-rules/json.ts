/** Fields of a value as a server sees them: a record, or nothing. */
export function fields(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The elements of a value that should be a list. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text, or an empty one. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Ids that occur more than once, each once. */
export function repeated(ids: readonly string[]): string[] {
  return [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))];
}
