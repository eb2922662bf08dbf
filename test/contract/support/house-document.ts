import { FLOORS, PACKAGE_HOMES } from "./architecture.ts";
import { readFences } from "./markdown.ts";

/**
 * Reads the floors from the picture in docs/architecture.md: a fenced block that starts with `floor`, then lines
 * of a number, two or more spaces, and the names of rooms, set apart by two or more spaces.
 *
 * @returns As `FLOORS`: ground floor first.
 */
export function readFloorPicture(markdown: string): string[][] {
  const picture = readFences(markdown).find((fence) => /^\s*floor\s/.test(fence.code));
  if (picture === undefined) throw new Error('There is no fenced block that starts with "floor".');
  const floors: string[][] = [];
  for (const line of picture.code.split("\n")) {
    const [, number, rest] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    if (number === undefined || rest === undefined) continue;
    const cells = rest.split(/\s{2,}/);
    floors[Number(number)] = cells.flatMap((cell) => {
      const words = cell.split(" ");
      return words.every((word) => /^[a-z-]+(?:\/|\.ts)$/.test(word)) ? words : [];
    });
  }
  return floors;
}

/** Compares the picture's floors with the table's; the order within a floor does not matter. */
export function compareFloors(pictured: readonly (readonly string[])[]): string[] {
  const faults: string[] = [];
  for (let floor = 0; floor < Math.max(FLOORS.length, pictured.length); floor++) {
    const inPicture = [...(pictured[floor] ?? [])].sort().join(" ");
    const inTable = [...(FLOORS[floor] ?? [])].sort().join(" ");
    if (inPicture !== inTable) {
      faults.push(`floor ${floor}: the picture has "${inPicture}", FLOORS has "${inTable}"`);
    }
  }
  return faults;
}

/** Compares the packages that package.json depends on with those that have a home and a row in the document. */
export function comparePackages(dependencies: readonly string[], document: string): string[] {
  const faults: string[] = [];
  for (const name of new Set([...dependencies, ...Object.keys(PACKAGE_HOMES)])) {
    if (!dependencies.includes(name)) faults.push(`${name} has a home but is no dependency`);
    else if (!(name in PACKAGE_HOMES)) faults.push(`${name} is a dependency without a home`);
    const row = new RegExp(`^\\|[^|]*\\b${name}\\b[^|]*\\|`, "m");
    if (!row.test(document)) faults.push(`${name} has no row in the table of docs/architecture.md`);
  }
  return faults;
}
