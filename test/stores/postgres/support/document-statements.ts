import { readFences } from "../../../contract/support/markdown.ts";
import { readText } from "../../../contract/support/repository.ts";

/** Returns the SQL blocks that a document marks with a word, verbatim. */
export function sqlBlocks(document: string, kind: string): string[] {
  const blocks = readFences(readText(document)).filter(
    ({ language, flags }) => language === "sql" && flags.includes(kind),
  );
  if (blocks.length === 0) throw new Error(`${document} has no SQL marked ${kind}.`);
  return blocks.map(({ code }) => code);
}
