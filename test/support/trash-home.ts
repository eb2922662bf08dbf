import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";

/** Home of all tests of a file: where the trash is, is asked once, when the first file is deleted. */
export const home = mkdtempSync(join(tmpdir(), "sessiontree-trash-"));

/** The trash in that home, empty before each test. */
export const trash = join(home, "data", "Trash");

/** A folder in that home, another one for each test. */
export let folder = "";

beforeAll(() => {
  vi.stubEnv("HOME", home);
  vi.stubEnv("XDG_DATA_HOME", join(home, "data"));
  vi.stubEnv("PI_SESSIONS_DIR", join(home, "sessions"));
});

beforeEach(() => {
  folder = mkdtempSync(join(home, "sessions-"));
});

afterEach(() => rmSync(trash, { recursive: true, force: true }));

afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

/** Returns the texts of the files in the trash. */
export function inTrash(): string[] {
  const files = join(trash, "files");
  return existsSync(files) ? readdirSync(files).map((name) => readFileSync(join(files, name), "utf8")) : [];
}
