import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { PROCESS_DATA, PROCESS_HOME } from "../../../support/process-home.ts";
import { removeFolder } from "../../../support/remove-folder.ts";
import { temporaryFolder } from "./cli.ts";

/** The trash of the tests of this file. */
export const TRASH = join(PROCESS_DATA, "Trash");

/** Creates a folder for one test, and an empty trash. */
export function folderWithTrash(): string {
  const folder = temporaryFolder();
  vi.stubEnv("XDG_DATA_HOME", PROCESS_DATA);
  vi.stubEnv("HOME", PROCESS_HOME);
  onTestFinished(() => removeFolder(TRASH));
  return folder;
}

/** Returns the text of each file in the trash. */
export function inTrash(): string[] {
  const files = join(TRASH, "files");
  return existsSync(files) ? readdirSync(files).map((name) => readFileSync(join(files, name), "utf8")) : [];
}

/** Returns the prompts, and answers them. */
export function answering(...answers: string[]) {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return answers[questions.length - 1] ?? "";
  };
  return { questions, ask };
}
