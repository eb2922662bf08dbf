import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { API_FOLDER, readApiReference, writeApiReference } from "./support/api-reference.ts";
import { checkReferences, localLinks } from "./support/links.ts";
import { member, parseFacts } from "./support/package-facts.ts";
import { PUBLIC_NAMES_PATH } from "./support/public-names.ts";
import { ROOT, readText, TARGET } from "./support/repository.ts";

/** Returns whether a file has a heading for a name: in Markdown, underscores are escaped. */
function describes(text: string, name: string): boolean {
  return new RegExp(`^### (?:abstract )?${name}\\b`, "m").test(text.replaceAll("\\_", "_"));
}

const written = readApiReference(join(ROOT, API_FOLDER));

// It is generated from the sources; a build makes no difference to it.
test.runIf(TARGET === "src")("docs/api agrees with the docstrings", { timeout: 300_000 }, () => {
  const folder = temporaryFolder();
  writeApiReference(folder);
  const made = readApiReference(folder);
  const outdated = [...new Set([...made.keys(), ...written.keys()])].filter(
    (name) => made.get(name) !== written.get(name),
  );
  expect(outdated, "run npm run update:api-reference, and commit what it writes").toEqual([]);
});

test("docs/api has every public name", () => {
  const names = parseFacts(readText(PUBLIC_NAMES_PATH));
  const missing = Object.keys(names).flatMap((subpath) => {
    const text = written.get(subpath === "sessiontree" ? "index.md" : `${subpath.slice(12)}.md`) ?? "";
    return Object.keys(member(names, subpath))
      .filter((name) => !describes(text, name))
      .map((name) => `${subpath}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test("docs/api has no dead links", () => {
  const read = (path: string) => written.get(path.slice(`${API_FOLDER}/`.length));
  const links = [...written].flatMap(([name, text]) => localLinks(`${API_FOLDER}/${name}`, text));
  expect(links.length).toBeGreaterThan(100);
  expect(checkReferences(links, read)).toEqual([]);
});
