import { inventedPath } from "./compiler.ts";
import { readExamples } from "./docstrings.ts";
import { readFences } from "./markdown.ts";

/** Code of a document, or of a docstring, as a separate program. */
export interface DocProgram {
  /** File and line where the code starts, such as `README.md:12`. */
  readonly place: string;
  /** File that holds the code. */
  readonly file: string;
  /** Code, with every line at its line number in the file. */
  readonly text: string;
  /** Whether the program is run, rather than only compiled. */
  readonly runs: boolean;
  /** File name of the program, if the document shows several that import each other. */
  readonly name?: string;
  /** Whether it needs packages that are not installed: a test that unpacks them compiles it. */
  readonly isUnpacked?: true;
}

const FLAGS = new Set(["no-run", "continues", "unpacked"]);
/** Mark of a block that is a file: its name. */
const FILE = /^file=([\w-]+\.ts)$/;

function atLine(line: number, code: string): string {
  return "\n".repeat(line - 1) + code;
}

function appended(text: string, line: number, code: string): string {
  return text + "\n".repeat(line - text.split("\n").length) + code;
}

/**
 * Reads the programs of a document: its fenced blocks marked `ts`.
 *
 * `ts no-run` is compiled and not run. `ts continues` continues the previous program: the two are one program, which runs only
 * if all its blocks do. `ts unpacked` needs packages that are not installed. `ts file=NAME.ts` is a file that other files of
 * the document import; a separate test runs those.
 *
 * @throws On a block in JavaScript, or with another mark: it would escape the check.
 */
export function readDocPrograms(file: string, markdown: string): DocProgram[] {
  const programs: DocProgram[] = [];
  for (const { language, flags, line, code } of readFences(markdown)) {
    if (/^(?:typescript|tsx|javascript|jsx?|mjs)$/i.test(language)) {
      throw new Error(`${file}:${line} is marked ${language}: write ts, so that it is checked.`);
    }
    if (language !== "ts") continue;
    const names = flags.flatMap((flag) => FILE.exec(flag)?.[1] ?? []);
    const unknown = flags.find((flag) => !FLAGS.has(flag) && !FILE.test(flag));
    if (unknown !== undefined) throw new Error(`${file}:${line} has the unknown mark ${unknown}.`);
    const unpacked = flags.includes("unpacked") ? { isUnpacked: true as const } : {};
    for (const name of names) {
      programs.push({
        place: `${file}:${line}`,
        file,
        text: atLine(line, code),
        runs: false,
        name,
        ...unpacked,
      });
    }
    if (names.length > 0) continue;
    const runs = !flags.includes("no-run") && !flags.includes("unpacked");
    if (!flags.includes("continues")) {
      programs.push({ place: `${file}:${line}`, file, text: atLine(line, code), runs, ...unpacked });
      continue;
    }
    const before = programs.pop();
    if (before === undefined) throw new Error(`${file}:${line} continues nothing.`);
    programs.push({ ...before, text: appended(before.text, line, code), runs: runs && before.runs });
  }
  return programs;
}

/**
 * Reads the programs of a source file's `@example` tags. They are compiled, not run.
 *
 * Public names that an example uses are imported for it if it has no import.
 *
 * @param publicNames - Exports of "sessiontree".
 */
export function readExamplePrograms(
  file: string,
  text: string,
  publicNames: readonly string[],
): DocProgram[] {
  return readExamples(file, text).map(({ line, code }) => {
    const words = new Set(code.match(/[A-Za-z_$][\w$]*/g));
    const used = publicNames.filter((name) => words.has(name));
    const imports = /^import\s/m.test(code) ? "" : `import { ${used.join(", ")} } from "sessiontree";`;
    return { place: `${file}:${line}`, file, text: imports + atLine(line, code), runs: false };
  });
}

/** Returns the compiler's path of a program. */
export function compilerPath({ place, file, name }: DocProgram): string {
  const plain = (text: string) => text.replace(/[^\w.-]/g, "_");
  return inventedPath(name === undefined ? `${plain(place)}.ts` : `${plain(file)}/${name}`);
}
