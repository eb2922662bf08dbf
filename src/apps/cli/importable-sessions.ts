import type { CliIo } from "./io.ts";

/** Number of another program's sessions that can be imported. */
export interface ImportableSessions {
  /** Name of the program. */
  readonly source: string;
  /**
   * Number of sessions that have not been imported or have changed since, excluding subagents whose records are in another
   * session's files.
   */
  readonly sessions: number;
}

/** Counts other programs' sessions that have not been imported, so that a new user sees what is available. */
export async function countImportable({
  env,
  now,
}: Pick<CliIo, "env" | "now">): Promise<ImportableSessions[]> {
  const { previewImport } = await import("../../interop/history/import-sessions.ts");
  const numbers = new Map<string, number>();
  // Read errors are reported by the import itself.
  for (const { source, changed } of await previewImport({ env, now, onSkipped: () => undefined }))
    if (changed > 0) numbers.set(source, (numbers.get(source) ?? 0) + changed);
  return Array.from(numbers, ([source, sessions]) => ({ source, sessions }));
}
