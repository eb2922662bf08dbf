import type { StoredImage } from "../../core/facts/images.ts";
import { formatBytes } from "../../core/facts/number-text.ts";

/**
 * Formats a stored value as indented JSON; empty for values that JSON omits. A value that is nested too deeply for the stack is
 * not shown.
 */
export function formatJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? "";
  } catch (error) {
    if (error instanceof RangeError) return "(nested too deeply to show)";
    throw error;
  }
}

/** Formats the type and size of an image. */
export function formatImage({ mimeType, data }: StoredImage): string {
  return `${mimeType || "of no known type"}, ${formatBytes(Math.floor((data.length * 3) / 4))}`;
}
