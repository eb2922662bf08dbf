/** Writes a stored value as indented JSON; empty for what JSON leaves out. One nested deeper than the stack is not shown. */
export function prettyJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? "";
  } catch (error) {
    if (error instanceof RangeError) return "(nested too deeply to show)";
    throw error;
  }
}
