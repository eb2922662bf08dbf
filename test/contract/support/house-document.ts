import { PACKAGE_HOMES, WINGS } from "./architecture.ts";
import { readFences } from "./markdown.ts";

/**
 * Reads the wings from the diagram in docs/architecture.md.
 *
 * The diagram is a fenced block that starts with `wing`. A line that starts with a word names a wing; a line that starts with a
 * number, one of its floors: two or more spaces, then the names of its folders, separated by two or more spaces.
 *
 * @returns As `WINGS`: wings in their order, the ground floor first.
 */
export function readWingDiagram(markdown: string): Record<string, string[][]> {
  const diagram = readFences(markdown).find((fence) => /^\s*wing\s/.test(fence.code));
  if (diagram === undefined) throw new Error('There is no fenced block that starts with "wing".');
  const wings: [name: string, floors: string[][]][] = [];
  for (const line of diagram.code.split("\n").slice(1)) {
    const [, name] = /^([a-z]+)\b/.exec(line) ?? [];
    if (name !== undefined) wings.unshift([name, []]);
    const [, number, rest] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    const floors = wings[0]?.[1];
    if (floors === undefined || number === undefined || rest === undefined) continue;
    const cells = rest.split(/\s{2,}/);
    floors[Number(number)] = cells.flatMap((cell) => {
      const words = cell.split(" ");
      return words.every((word) => /^[a-z-]+\/$/.test(word)) ? words : [];
    });
  }
  return Object.fromEntries(wings);
}

/** Compares the diagram's floors with the table's; the order within a floor does not matter. */
export function compareWings(drawn: Readonly<Record<string, readonly (readonly string[])[]>>): string[] {
  const faults: string[] = [];
  const order = Object.keys(WINGS).join(" ");
  const drawnOrder = Object.keys(drawn).join(" ");
  if (drawnOrder !== order) faults.push(`the diagram has the wings ${drawnOrder}, WINGS has ${order}`);
  for (const [wing, floors] of Object.entries(WINGS)) {
    const inDiagram = drawn[wing] ?? [];
    for (let floor = 0; floor < Math.max(floors.length, inDiagram.length); floor++) {
      const left = [...(inDiagram[floor] ?? [])].sort().join(" ");
      const right = [...(floors[floor] ?? [])].sort().join(" ");
      if (left !== right) faults.push(`${wing} ${floor}: the diagram has "${left}", WINGS has "${right}"`);
    }
  }
  return faults;
}

/** Compares the dependencies in package.json with the packages that have a home and a row in the document. */
export function comparePackages(dependencies: readonly string[], document: string): string[] {
  const faults: string[] = [];
  for (const name of new Set([...dependencies, ...Object.keys(PACKAGE_HOMES)])) {
    if (!dependencies.includes(name)) faults.push(`${name} has a home but is no dependency`);
    else if (!(name in PACKAGE_HOMES)) faults.push(`${name} is a dependency without a home`);
    const row = new RegExp(`^\\|(?:[^|]*[^|\\w@/-])?${name}(?:[^|\\w/-][^|]*)?\\|`, "m");
    if (!row.test(document)) faults.push(`${name} has no row in the table of docs/architecture.md`);
  }
  return faults;
}

/** Row of the table under "Where is …?": `AppendFile.append` in `log/append-file.ts`. */
const WHERE_ROW = /^\|[^|]+\| `([\w/.-]+)` \| `(?:(\w+)\.)?(\w+)` \|$/;

/**
 * Compares the table under "Where is …?" with the sources.
 *
 * @param read - Returns the text of a file below `src`; undefined if it does not exist.
 * @returns A line for each row that names a missing file, or a missing declaration.
 */
export function compareWhereTable(document: string, read: (path: string) => string | undefined): string[] {
  const [, section = ""] = /^## Where is …\?\n([\s\S]*?)^## /m.exec(document) ?? [];
  const rows = section.split("\n").filter((line) => line.startsWith("| ") && !line.endsWith("look for |"));
  if (rows.length === 0) throw new Error('There is no table under "## Where is …?".');
  return rows.flatMap((row) => {
    const [, path, owner, name] = WHERE_ROW.exec(row) ?? [];
    if (path === undefined || name === undefined) return [`not of the form of the others: ${row}`];
    const text = read(path);
    if (text === undefined) return [`${path} is not there`];
    const names = owner === undefined ? [name] : [owner, name];
    return names.filter((one) => !isDeclared(text, one)).map((one) => `${path} declares no ${one}`);
  });
}

function isDeclared(text: string, name: string): boolean {
  const atTop = `^(?:export )?(?:async )?(?:function\\*?|class|interface|type|const) ${name}\\b`;
  return new RegExp(`${atTop}|^ {2}(?:static |async |\\*)*#?${name}[(<]`, "m").test(text);
}
