import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { removeFolder } from "./remove-folder.ts";

/** Creates a folder that is removed when the test has finished. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "test-sessiontree-"));
  onTestFinished(() => removeFolder(folder));
  return folder;
}
