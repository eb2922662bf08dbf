import { builtinModules } from "node:module";
import { dirname, posix } from "node:path";
import ts from "typescript";
import { checkPurity } from "./purity.ts";
import { getLine, type ImportRecord, parse, readImports } from "./syntax.ts";

/**
 * Wings in their order, each with its floors from the ground up: folders below `src/<wing>/`.
 *
 * A file imports from its own folder, from lower floors of its wing, and from the wings before it. A test compares this with
 * the diagram in docs/architecture.md.
 */
export const WINGS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  core: [["format/"], ["tree/"], ["context/", "jsonl/"], ["compaction/", "facts/", "merge/"]],
  session: [["fs/"], ["log/"], ["files/"], ["manager/"], ["controller/"]],
  catalog: [["query/"], ["list/"], ["search/", "trash/", "usage/"], ["redaction/"]],
  stores: [["contract/"], ["file/", "remote/"], ["postgres/", "sqlite/", "suite/"]],
  interop: [["convert/"], ["import/"], ["adapters/", "atif/", "history/"], ["continue/"]],
  apps: [["text/"], ["recall/"], ["mcp/"], ["cli/", "page/"]],
};

/** All floors from the ground up, across the wings: path prefixes below `src/`. */
const FLOORS: readonly (readonly string[])[] = Object.entries(WINGS).flatMap(([wing, floors]) =>
  floors.map((rooms) => rooms.map((room) => `${wing}/${room}`)),
);

/** Files that import a package by its path, which no bundler can follow: bundled, the package fails. */
const LOADING_BY_PATH: readonly string[] = ["src/catalog/trash/trash.ts"];

/** The only import from a higher floor: pi's `SessionManager.list` is a static method, and loads the catalog only when called. */
const LAZY_UP = { from: "src/session/manager/session-manager.ts", to: "src/catalog/list/list-infos.ts" };

/** Dependencies of the library, each with the only places (path prefixes) that import it. */
export const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  nanoid: ["src/core/format/ids.ts"],
  uuid: ["src/core/format/ids.ts"],
  zod: ["src/core/format/zod-schema.ts"],
  "write-file-atomic": ["src/session/fs/"],
  trash: ["src/catalog/trash/trash.ts"],
  commander: ["src/apps/cli/"],
  picocolors: ["src/apps/cli/"],
  "string-width": ["src/apps/cli/"],
  fuzzysort: ["src/apps/cli/picker/"],
  "jsonc-parser": ["src/apps/cli/keep/"],
  "@pydantic/genai-prices": ["src/apps/cli/price-table.ts"],
  pg: ["src/stores/postgres/open-postgres-store.ts"],
  "better-sqlite3": ["src/stores/sqlite/open-sqlite-store.ts"],
  "@langchain/core": ["src/interop/adapters/langgraph/"],
  "@langchain/langgraph-checkpoint": ["src/interop/adapters/langgraph/"],
  "@modelcontextprotocol/server": ["src/apps/mcp/"],
};

/** Packages that are bundled into the page when it is built: not installed with the library. */
const BUNDLED_HOMES: Readonly<Record<string, readonly string[]>> = {
  preact: ["src/apps/page/"],
  "markdown-it": ["src/apps/page/render/"],
  "highlight.js": ["src/apps/page/render/"],
  diff: ["src/apps/page/model/"],
  "@tanstack/virtual-core": ["src/apps/page/ui/"],
};

/** The entry files are above every folder but those of the command line and the page. */
const PUBLIC_FLOOR = FLOORS.length - 1.5;

/** Folders without I/O, clock, or randomness, which also run in a browser. */
const PURE = [
  "src/core/",
  "src/catalog/query/",
  "src/interop/convert/",
  "src/interop/import/",
  "src/apps/text/",
];
/** The page also runs in a browser, and uses its host. */
const PAGE = "src/apps/page";
/** Other files that the page may import. */
const FOR_PAGE = ["src/core/", "src/core.ts", "src/catalog/query/", "src/apps/text/"];
const BUILTINS = new Set(builtinModules);

/** Parsed file of src/, with its position in the architecture. */
interface Room {
  readonly path: string;
  readonly source: ts.SourceFile;
  readonly floor: number;
  readonly folder: string;
  readonly imports: readonly ImportRecord[];
}

/** Returns whether a file can be imported from the package: it is directly in src. */
function isPublic(path: string): boolean {
  return /^src\/[^/]+\.ts$/.test(path);
}

function getFloor(path: string): number {
  if (isPublic(path)) return PUBLIC_FLOOR;
  const inside = path.slice("src/".length);
  return FLOORS.findIndex((rooms) => rooms.some((room) => inside.startsWith(room)));
}

/** Returns the name of a path's floor in the diagram, such as `core 1`; `the entry files` for those. */
function floorName(path: string): string {
  const [, wing = "", folder = ""] = path.split("/");
  if (isPublic(path)) return "the entry files";
  return `${wing} ${WINGS[wing]?.findIndex((rooms) => rooms.includes(`${folder}/`))}`;
}

/** Returns the wing and folder of a path, such as `src/core/tree`; `src` for the entry files. */
function getFolder(path: string): string {
  const parts = path.split("/");
  return parts.length > 3 ? `src/${parts[1]}/${parts[2]}` : "src";
}

function isPure({ path }: { path: string }): boolean {
  return PURE.some((place) => path.startsWith(place));
}

function getPackage(specifier: string): string {
  const parts = specifier.split("/");
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? specifier);
}

/** Returns the fault of an import that names a package or a module of Node, if any. */
function judgePackage(room: Room, specifier: string): string | undefined {
  if (specifier.startsWith("node:")) {
    return isPure(room) || room.folder === PAGE
      ? `imports ${specifier}: this floor runs in a browser`
      : undefined;
  }
  const name = getPackage(specifier);
  if (BUILTINS.has(name)) return `imports "${specifier}": write "node:${specifier}"`;
  const homes = PACKAGE_HOMES[name] ?? BUNDLED_HOMES[name];
  if (homes === undefined) return `imports ${name}, which has no home in PACKAGE_HOMES`;
  if (homes.some((home) => room.path.startsWith(home))) return undefined;
  return `imports ${name}, whose home is ${homes.join(", ")}`;
}

/** Returns the fault of an import of another file of ours, if any. */
function judgeFile(
  room: Room,
  { target, isDynamic }: { target: string; isDynamic: boolean },
  rooms: ReadonlyMap<string, Room>,
): string | undefined {
  const other = rooms.get(target);
  if (isDynamic && room.path === LAZY_UP.from && target === LAZY_UP.to) return undefined;
  // Generated data is next to the file that reads it.
  if (target.endsWith(".json") && dirname(target) === dirname(room.path)) return undefined;
  if (other === undefined) return `imports ${target}, which is no file of src/ (write the extension .ts)`;
  if (room.path === "src/core.ts" && !target.startsWith("src/core/")) {
    return `imports ${target}: src/core.ts exports from src/core alone`;
  }
  const isForPage = other.folder === PAGE || FOR_PAGE.some((place) => target.startsWith(place));
  if (room.folder === PAGE && !isForPage) {
    return `imports ${target}: the page imports core, catalog/query, and apps/text alone`;
  }
  if (other.floor < room.floor || other.folder === room.folder) return undefined;
  return other.floor === room.floor
    ? `imports ${target}: the same floor, another folder`
    : `imports ${target}: up from ${floorName(room.path)} to ${floorName(target)}`;
}

function checkImports(room: Room, rooms: ReadonlyMap<string, Room>): string[] {
  const faults: string[] = [];
  for (const { specifier, line, isDynamic } of room.imports) {
    if (specifier === null && LOADING_BY_PATH.includes(room.path)) continue;
    const fault =
      specifier === null
        ? "imports a module whose name is computed"
        : specifier.startsWith(".")
          ? judgeFile(room, { target: posix.join(dirname(room.path), specifier), isDynamic }, rooms)
          : judgePackage(room, specifier);
    if (fault !== undefined) faults.push(`${room.path}:${line} ${fault}`);
  }
  return faults;
}

/** Lists the statements of a file of the public floor other than explicit named re-exports. */
function checkPublicFile(room: Room): string[] {
  return room.source.statements
    .filter((statement) => {
      const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined;
      return clause === undefined || !ts.isNamedExports(clause);
    })
    .map((statement) => `${room.path}:${getLine(statement)} is more than an explicit named re-export`);
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

/** Finds files that import each other in a cycle, directly or through others. */
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
  // A file that imports none of the remaining files cannot be part of a cycle.
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
 * Checks the rules of the architecture on a set of source files.
 *
 * @param files - Path (beginning with `src/`) → text.
 * @returns One line for each violation, with its place; empty if there is none.
 */
export function checkArchitecture(files: ReadonlyMap<string, string>): string[] {
  const rooms = new Map<string, Room>();
  for (const [path, text] of files) {
    const source = parse(path, text);
    rooms.set(path, {
      path,
      source,
      floor: getFloor(path),
      folder: getFolder(path),
      imports: readImports(source),
    });
  }
  const faults = [...rooms.values()].flatMap((room) =>
    room.floor === -1
      ? [`${room.path} is on no floor: add its folder to WINGS and to docs/architecture.md`]
      : [
          ...checkImports(room, rooms),
          ...(isPure(room) ? checkPurity(room.source) : []),
          ...checkShape(room),
        ],
  );
  return [...faults, ...findCycles(rooms)];
}
