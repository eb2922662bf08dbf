import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "./cli.ts";

// One for all tests of a file: where the trash is, is asked once, when the first file is deleted.
const data = mkdtempSync(join(tmpdir(), "sessiontree-data-"));

/** The trash of the tests of this file. */
export const TRASH = join(data, "Trash");

afterAll(() => rmSync(data, { recursive: true, force: true }));

/** Makes a folder for one test, and an empty trash. */
export function folderWithTrash(): string {
  const folder = temporaryFolder();
  vi.stubEnv("XDG_DATA_HOME", data);
  vi.stubEnv("HOME", data);
  onTestFinished(() => rmSync(TRASH, { recursive: true, force: true }));
  return folder;
}

/** The texts of the files in the trash. */
export function inTrash(): string[] {
  const files = join(TRASH, "files");
  return existsSync(files) ? readdirSync(files).map((name) => readFileSync(join(files, name), "utf8")) : [];
}

/** Gives what is asked, and answers it. */
export function answering(...answers: string[]) {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return answers[questions.length - 1] ?? "";
  };
  return { questions, ask };
}
