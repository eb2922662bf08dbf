import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ENTRIES } from "./compiler.ts";
import { ROOT } from "./repository.ts";

/** Folder of the reference in the checkout. */
export const API_FOLDER = "docs/api";

/**
 * Writes the API reference: a Markdown file for each subpath, and one that lists them.
 *
 * TypeDoc generates it from the docstrings, as set in typedoc.json, and identifies subpaths by their files alone; their names
 * are inserted later.
 *
 * @param folder - Absolute; its content is replaced.
 * @throws If a docstring cannot be parsed, or links to a missing target.
 */
export function writeApiReference(folder: string): void {
  const typedoc = join(ROOT, "node_modules/typedoc/bin/typedoc");
  execFileSync(process.execPath, [typedoc, "--treatWarningsAsErrors", "--out", folder], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  const names = Object.entries(ENTRIES);
  const list = names.map(([name, file]) => `- [\`${name}\`](${file}.md)`).join("\n");
  writeFileSync(join(folder, "README.md"), `# API reference\n\n${list}\n`);
  for (const [name, file] of names) {
    const path = join(folder, `${file}.md`);
    writeFileSync(path, readFileSync(path, "utf8").replace(/^# .*/, `# ${name}`));
  }
}

/** Reads the files of a reference: name → text. */
export function readApiReference(folder: string): Map<string, string> {
  const names = readdirSync(folder).sort();
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
