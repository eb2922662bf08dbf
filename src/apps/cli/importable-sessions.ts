import type { CliIo } from "./io.ts";

/** How many sessions of another program can be imported. */
export interface ImportableSessions {
  /** The program. */
  readonly source: string;
  /** Those that are not imported, or have changed since, with those of their subagents. */
  readonly sessions: number;
}

/** Counts the sessions of other programs that are there and not imported, so that a new user sees what there is to look at. */
export async function countImportable({
  env,
  now,
}: Pick<CliIo, "env" | "now">): Promise<ImportableSessions[]> {
  const { previewImport } = await import("../../interop/history/import-sessions.ts");
  const numbers = new Map<string, number>();
  // What cannot be read is told by the import.
  for (const { source, changed } of await previewImport({ env, now, onSkipped: () => undefined }))
    if (changed > 0) numbers.set(source, (numbers.get(source) ?? 0) + changed);
  return Array.from(numbers, ([source, sessions]) => ({ source, sessions }));
}
