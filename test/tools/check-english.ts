import { statSync } from "node:fs";
import { join } from "node:path";
import { type EnglishFault, findEnglishFaults } from "../contract/support/english.ts";
import { listFiles, ROOT, readText } from "../contract/support/repository.ts";

/**
 * Prints what the English rules find in files and folders: `npx tsx test/tools/check-english.ts src/core docs/cli.md`.
 *
 * With `--count`, prints the number of findings of each rule.
 */
function main(args: readonly string[]): void {
  const paths = args.filter((arg) => !arg.startsWith("--"));
  const files = paths.flatMap((path) => (statSync(join(ROOT, path)).isFile() ? [path] : listFiles(path)));
  const faults = files
    .filter((path) => /\.(?:tsx?|md)$/.test(path))
    .flatMap((path) => findEnglishFaults(path, readText(path)));
  const lines = args.includes("--count") ? count(faults) : faults.map(format);
  console.log([...lines, `${faults.length} in all`].join("\n"));
}

function format({ at, words, instead, text }: EnglishFault): string {
  return `${at}: "${words}": ${instead}\n    ${text}`;
}

function count(faults: readonly EnglishFault[]): string[] {
  const counts = new Map<string, number>();
  for (const { instead, words } of faults) {
    const key = `${words.toLowerCase()} → ${instead}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([key, times]) => `${times} ${key}`);
}

main(process.argv.slice(2));
