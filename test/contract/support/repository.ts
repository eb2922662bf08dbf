import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of the checkout. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Whether these tests check the sources or the build. */
export const TARGET = process.env["SESSIONTREE_TEST_TARGET"] === "dist" ? "dist" : "src";

const NOT_OURS = new Set(["node_modules", "dist", "coverage", ".git", ".bench"]);

/** Reads a text file of the checkout by its path from the checkout's folder. */
export function readText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/**
 * Lists the checkout's files below a folder, without installed and built files.
 *
 * @param folder - Path from the checkout's folder; "" for all.
 * @returns Sorted paths from the checkout's folder, with forward slashes.
 */
export function listFiles(folder: string): string[] {
  const found: string[] = [];
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const item of readdirSync(join(ROOT, next), { withFileTypes: true })) {
      const path = next === "" ? item.name : `${next}/${item.name}`;
      if (item.isDirectory() && !NOT_OURS.has(item.name)) pending.push(path);
      if (item.isFile()) found.push(path);
    }
  }
  return found.sort();
}

/** Reads every TypeScript file below a folder: path → text. */
export function readSources(folder: string): Map<string, string> {
  const paths = listFiles(folder).filter((path) => /\.tsx?$/.test(path));
  return new Map(paths.map((path) => [path, readText(path)]));
}

/** Lists the documents, except docs/api, which is generated from docstrings that have separate checks. */
export function listDocuments(): string[] {
  const isDocument = (path: string) => /^(?:[^/]+|docs\/(?!api\/).+)\.md$/.test(path);
  return listFiles("").filter(isDocument);
}
