import { execFile } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Result of an example. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Files that the program left in the folder for temporary files. */
  readonly left: string[];
}

/** Runs an example as its first lines specify: with tsx, from the checkout's folder. */
export async function runExample(name: string): Promise<Outcome> {
  const folder = temporaryFolder();
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  const env = { ...process.env, HOME: folder, TMPDIR: temporary, TEMP: temporary, NO_COLOR: "1" };
  return new Promise((resolve) => {
    const argv = ["--import", "tsx", `docs/examples/${name}.ts`];
    execFile(process.execPath, argv, { cwd: ROOT, env }, (error, stdout, stderr) => {
      // tsx keeps compiled files in a separate folder.
      const left = readdirSync(temporary).filter((file) => !file.startsWith("tsx-"));
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr, left });
    });
  });
}
