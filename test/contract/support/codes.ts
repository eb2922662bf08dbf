import ts from "typescript";
import { readHeadings } from "./markdown.ts";
import { getLine, parse, visit } from "./syntax.ts";

/**
 * Compares the existing codes with the headings of docs/errors.md that are codes.
 *
 * @param unions - Codes, union by union. A code of two unions may have two headings.
 * @param document - Text of docs/errors.md; a heading is a code if it is one word in capitals.
 * @returns One line for each code without a heading, heading without a code, and duplicate heading.
 */
export function compareCodes(unions: readonly (readonly string[])[], document: string): string[] {
  const headings = readHeadings(document).filter((heading) => /^[A-Z][A-Z0-9_]+$/.test(heading));
  const codes = unions.flat();
  const count = (list: readonly string[], name: string) => list.filter((item) => item === name).length;
  const faults: string[] = [];
  for (const name of new Set([...codes, ...headings])) {
    if (!headings.includes(name)) faults.push(`${name} has no heading`);
    else if (!codes.includes(name)) faults.push(`the heading ${name} is no code`);
    else if (count(headings, name) > count(codes, name))
      faults.push(`${name} has more headings than meanings`);
  }
  return faults;
}

/** Lists unknown codes in backticks in a file's `@throws` tags. */
export function findUnknownThrows(path: string, text: string, codes: readonly string[]): string[] {
  const faults: string[] = [];
  visit(parse(path, text), (node) => {
    for (const tag of ts.getJSDocTags(node)) {
      if (!ts.isJSDocThrowsTag(tag)) continue;
      for (const [, code] of tag.getText().matchAll(/`([A-Z][A-Z0-9_]+)`/g)) {
        if (code !== undefined && !codes.includes(code)) {
          faults.push(`${path}:${getLine(tag)} @throws names ${code}, which is no code`);
        }
      }
    }
  });
  return [...new Set(faults)];
}
