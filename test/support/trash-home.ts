import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";
import { PROCESS_DATA, PROCESS_HOME } from "./process-home.ts";
import { removeFolder } from "./remove-folder.ts";

/** Home of all tests of a file. */
export const home = PROCESS_HOME;

/** The trash in that home, empty before each test. */
export const trash = join(PROCESS_DATA, "Trash");

/** A folder in that home, a new one for each test. */
export let folder = "";

/** Makes the tests of a file use that home; must be called at the top of the file. */
export function useTrashHome(): void {
  beforeAll(() => {
    vi.stubEnv("HOME", home);
    vi.stubEnv("XDG_DATA_HOME", PROCESS_DATA);
    vi.stubEnv("PI_SESSIONS_DIR", join(home, "sessions"));
  });

  beforeEach(() => {
    folder = mkdtempSync(join(home, "sessions-"));
  });

  afterEach(() => removeFolder(trash));

  afterAll(() => {
    vi.unstubAllEnvs();
  });
}

/** Returns the texts of the files in the trash. */
export function inTrash(): string[] {
  const files = join(trash, "files");
  return existsSync(files) ? readdirSync(files).map((name) => readFileSync(join(files, name), "utf8")) : [];
}
