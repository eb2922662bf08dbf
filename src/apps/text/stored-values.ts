import type { StoredImage } from "../../core/facts/images.ts";
import { formatBytes } from "../../core/facts/number-text.ts";

/** Writes a stored value as indented JSON; empty for what JSON leaves out. One nested deeper than the stack is not shown. */
export function formatJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? "";
  } catch (error) {
    if (error instanceof RangeError) return "(nested too deeply to show)";
    throw error;
  }
}

/** Writes of what type an image is, and how large. */
export function formatImage({ mimeType, data }: StoredImage): string {
  return `${mimeType || "of no known type"}, ${formatBytes(Math.floor((data.length * 3) / 4))}`;
}
