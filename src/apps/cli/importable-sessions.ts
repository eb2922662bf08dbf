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

/**
 * Counts other programs' sessions that have not been imported, so that a new user sees what is available.
 *
 * @param onSkipped - Called for each file that cannot be read.
 */
export async function countImportable(
  { env, now }: Pick<CliIo, "env" | "now">,
  onSkipped: (path: string, error: unknown) => void = () => undefined,
): Promise<ImportableSessions[]> {
  const { previewImport } = await import("../../interop/history/import-sessions.ts");
  const numbers = new Map<string, number>();
  for (const { source, changed } of await previewImport({ env, now, onSkipped }))
    if (changed > 0) numbers.set(source, (numbers.get(source) ?? 0) + changed);
  return Array.from(numbers, ([source, sessions]) => ({ source, sessions }));
}
