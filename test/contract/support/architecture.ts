import { builtinModules } from "node:module";
import { dirname, posix } from "node:path";
import ts from "typescript";
import { checkPurity } from "./purity.ts";
import { type ImportRecord, lineOf, parse, readImports } from "./syntax.ts";

/**
 * The house, floor by floor from the ground: folders below src/.
 * The picture in docs/architecture.md is the same; a test compares them.
 */
export const FLOORS: readonly (readonly string[])[] = [
  ["schema/"],
  ["tree/"],
  ["context/", "jsonl/"],
  ["compaction/", "convert/", "fs/", "merge/", "view/"],
  ["import/", "log/", "search/"],
  ["catalog/"],
  ["manager/"],
  ["controller/", "stores/"],
  ["postgres/", "adapters/", "history/", "redaction/", "recall/"],
  ["mcp/"],
  ["cli/", "page/"],
];

/** Files that import a package by its path, which no bundler can follow: bundled, the package fails. */
const LOADING_BY_PATH: readonly string[] = ["src/catalog/trash/trash.ts"];

/** Every package that the library runs on, and the only places (beginnings of paths) that import it. */
export const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  nanoid: ["src/core/format/ids.ts"],
  uuid: ["src/core/format/ids.ts"],
  zod: ["src/core/format/zod-schema.ts"],
  "write-file-atomic": ["src/fs/"],
  trash: ["src/catalog/trash/trash.ts"],
  commander: ["src/cli/"],
  picocolors: ["src/cli/"],
  "string-width": ["src/cli/"],
  fuzzysort: ["src/cli/picker/"],
  pg: ["src/stores/postgres/open-postgres-store.ts"],
  "@langchain/core": ["src/adapters/langgraph/"],
  "@langchain/langgraph-checkpoint": ["src/adapters/langgraph/"],
  "@modelcontextprotocol/server": ["src/mcp/"],
};

/** Packages that are bundled into the page when it is built: they are no dependencies of who installs the library. */
const BUNDLED_HOMES: Readonly<Record<string, readonly string[]>> = {
  preact: ["src/page/"],
  "markdown-it": ["src/page/render/"],
  "highlight.js": ["src/page/render/"],
  diff: ["src/page/model/"],
  "@tanstack/virtual-core": ["src/page/ui/"],
};

/** What can be imported stands above every room but those of the command line and the page. */
const PUBLIC_FLOOR = FLOORS.length - 1.5;
const LAST_PURE_FLOOR = 2;
const PURE_ABOVE = [
  "src/compaction/",
  "src/convert/",
  "src/import/",
  "src/merge/",
  "src/search/",
  "src/view/",
];
/** What runs in a browser above the floors that do. */
const PAGE = "src/page";
const BUILTINS = new Set(builtinModules);

/** A file of src/, parsed, with where it stands. */
interface Room {
  readonly path: string;
  readonly source: ts.SourceFile;
  readonly floor: number;
  readonly folder: string;
  readonly imports: readonly ImportRecord[];
}

/** Whether a file is one that can be imported from the package: it lies directly in src. */
function isPublic(path: string): boolean {
  return /^src\/[^/]+\.ts$/.test(path);
}

function floorOf(path: string): number {
  if (isPublic(path)) return PUBLIC_FLOOR;
  const inside = path.slice("src/".length);
  return FLOORS.findIndex((rooms) => rooms.some((room) => inside.startsWith(room)));
}

/** The part of a path below src/ that names the room: a folder, or src/ itself for the files in it. */
function folderOf(path: string): string {
  const parts = path.split("/");
  return parts.length > 2 ? `src/${parts[1]}` : "src";
}

function isPure(room: { path: string; floor: number }): boolean {
  return room.floor <= LAST_PURE_FLOOR || PURE_ABOVE.some((place) => room.path.startsWith(place));
}

function packageOf(specifier: string): string {
  const parts = specifier.split("/");
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? specifier);
}

/** Says what is wrong with an import that names a package or a module of Node, if anything is. */
function judgePackage(room: Room, specifier: string): string | undefined {
  if (specifier.startsWith("node:")) {
    return isPure(room) || room.folder === PAGE
      ? `imports ${specifier}: this floor runs in a browser`
      : undefined;
  }
  const name = packageOf(specifier);
  if (BUILTINS.has(name)) return `imports "${specifier}": write "node:${specifier}"`;
  const homes = PACKAGE_HOMES[name] ?? BUNDLED_HOMES[name];
  if (homes === undefined) return `imports ${name}, which has no home in PACKAGE_HOMES`;
  if (homes.some((home) => room.path.startsWith(home))) return undefined;
  return `imports ${name}, whose home is ${homes.join(", ")}`;
}

/** Says what is wrong with an import of another file of ours, if anything is. */
function judgeFile(room: Room, target: string, rooms: ReadonlyMap<string, Room>): string | undefined {
  const other = rooms.get(target);
  // Data that is made from the sources lies beside the file that reads it.
  if (target.endsWith(".json") && dirname(target) === dirname(room.path)) return undefined;
  if (other === undefined) return `imports ${target}, which is no file of src/ (write the extension .ts)`;
  if (room.path === "src/core.ts" && (other.floor > 3 || target.startsWith("src/fs/"))) {
    return `imports ${target}: core is floors 0 to 3 without fs`;
  }
  const isGround = other.floor <= LAST_PURE_FLOOR || ["src/search", "src/view"].includes(other.folder);
  if (room.folder === PAGE && other.folder !== PAGE && target !== "src/core.ts" && !isGround) {
    return `imports ${target}: the page knows of the library what core and view say`;
  }
  if (other.floor < room.floor || other.folder === room.folder) return undefined;
  return other.floor === room.floor
    ? `imports ${target}: the same floor, another room`
    : `imports ${target}: up from floor ${room.floor} to floor ${other.floor}`;
}

function checkImports(room: Room, rooms: ReadonlyMap<string, Room>): string[] {
  const faults: string[] = [];
  for (const { specifier, line } of room.imports) {
    if (specifier === null && LOADING_BY_PATH.includes(room.path)) continue;
    const fault =
      specifier === null
        ? "imports a module whose name is computed"
        : specifier.startsWith(".")
          ? judgeFile(room, posix.join(dirname(room.path), specifier), rooms)
          : judgePackage(room, specifier);
    if (fault !== undefined) faults.push(`${room.path}:${line} ${fault}`);
  }
  return faults;
}

/** Lists what a file of the public floor holds beside explicit named re-exports. */
function checkPublicFile(room: Room): string[] {
  return room.source.statements
    .filter((statement) => {
      const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined;
      return clause === undefined || !ts.isNamedExports(clause);
    })
    .map((statement) => `${room.path}:${lineOf(statement)} is more than an explicit named re-export`);
}

function checkShape(room: Room): string[] {
  const faults: string[] = [];
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*\.tsx?$/.test(posix.basename(room.path))) {
    faults.push(`${room.path} is not named in kebab-case`);
  }
  if (isPublic(room.path)) return [...faults, ...checkPublicFile(room)];
  const passesOn = (statement: ts.Statement) =>
    ts.isExportDeclaration(statement) || ts.isImportDeclaration(statement);
  const { statements } = room.source;
  if (statements.some(ts.isExportDeclaration) && statements.every(passesOn)) {
    faults.push(`${room.path} only re-exports: import the file that has the thing`);
  }
  return faults;
}

/** Finds files that import each other in a circle, directly or through others. */
function findCycles(rooms: ReadonlyMap<string, Room>): string[] {
  const remaining = new Map<string, string[]>();
  for (const room of rooms.values()) {
    const targets = room.imports.flatMap(({ specifier }) =>
      specifier?.startsWith(".") ? [posix.join(dirname(room.path), specifier)] : [],
    );
    remaining.set(
      room.path,
      targets.filter((target) => rooms.has(target)),
    );
  }
  // What imports nothing that is left cannot be part of a circle.
  for (let shrunk = true; shrunk; ) {
    shrunk = false;
    for (const [path, targets] of remaining) {
      if (targets.some((target) => remaining.has(target))) continue;
      remaining.delete(path);
      shrunk = true;
    }
  }
  return remaining.size === 0 ? [] : [`import each other in a circle: ${followCircle(remaining)}`];
}

function followCircle(remaining: ReadonlyMap<string, readonly string[]>): string {
  const trail: string[] = [];
  let next = remaining.keys().next().value;
  while (next !== undefined && !trail.includes(next)) {
    trail.push(next);
    next = remaining.get(next)?.find((target) => remaining.has(target));
  }
  return next === undefined ? trail.join(" → ") : [...trail.slice(trail.indexOf(next)), next].join(" → ");
}

/**
 * Checks the rules of the house on a set of source files.
 *
 * @param files - Path (beginning with `src/`) → text.
 * @returns One line for each breach, with the place where it is; empty if all is well.
 */
export function checkArchitecture(files: ReadonlyMap<string, string>): string[] {
  const rooms = new Map<string, Room>();
  for (const [path, text] of files) {
    const source = parse(path, text);
    rooms.set(path, {
      path,
      source,
      floor: floorOf(path),
      folder: folderOf(path),
      imports: readImports(source),
    });
  }
  const faults = [...rooms.values()].flatMap((room) =>
    room.floor === -1
      ? [`${room.path} stands on no floor: add its room to FLOORS and to docs/architecture.md`]
      : [
          ...checkImports(room, rooms),
          ...(isPure(room) ? checkPurity(room.source) : []),
          ...checkShape(room),
        ],
  );
  return [...faults, ...findCycles(rooms)];
}
