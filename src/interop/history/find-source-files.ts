import { type BigIntStats, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { ifPresent, NotAPlainFileError } from "../../session/fs/file-system.ts";
import type { ReportSkipped, SourceFile } from "./source-file.ts";
import { SOURCE_PROGRAMS } from "./source-table.ts";

/**
 * Returns the files that may be sessions, without opening them: those named, and those below folders that are named.
 *
 * Follows links after everything else, and never to a folder or file that it has seen.
 */
export function findSourceFiles(paths: readonly string[], report: ReportSkipped): SourceFile[] {
  const walk = new SourceWalk(report);
  for (const path of paths) walk.follow(path);
  walk.followLinks();
  return [...walk.files.values()];
}

class SourceWalk {
  readonly files = new Map<string, SourceFile>();
  readonly #report: ReportSkipped;
  /** Folders and files that were seen, by device and number. */
  readonly #seen = new Set<string>();
  #links: string[] = [];

  constructor(report: ReportSkipped) {
    this.#report = report;
  }

  /** Takes what a path leads to, unless it was seen. */
  follow(path: string): void {
    this.#try(path, () => {
      const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (stats === undefined || this.#seen.has(identityOf(stats))) return;
      if (stats.isDirectory()) this.#takeFolders(path);
      else this.#takeFile(path, stats);
    });
  }

  /** Takes what links lead to; one that leads to a folder around it is reported. */
  followLinks(): void {
    for (let path = this.#links.shift(); path !== undefined; path = this.#links.shift()) {
      const link = path;
      this.#try(link, () => {
        if (leadsUpwards(link)) throw new NotAPlainFileError("it is a link to a folder that it lies in");
        if (mayHoldSessions(link) || isFolder(link)) this.follow(link);
      });
    }
  }

  #takeFolders(path: string): void {
    const folders = [path];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      folders.push(...this.#takeFolder(folder).reverse());
    }
  }

  /** Takes the files of a folder; returns the folders in it. */
  #takeFolder(folder: string): string[] {
    const inside: string[] = [];
    this.#try(folder, () => {
      const identity = identityOf(statSync(folder, { bigint: true }));
      if (this.#seen.has(identity)) return;
      this.#seen.add(identity);
      const entries = readdirSync(folder, { withFileTypes: true });
      for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
        const path = join(folder, entry.name);
        if (entry.isSymbolicLink()) this.#links.push(path);
        else if (entry.isDirectory()) inside.push(path);
        else if (mayHoldSessions(path))
          this.#try(path, () => this.#takeFile(path, statSync(path, { bigint: true })));
      }
    });
    return inside;
  }

  #takeFile(path: string, stats: BigIntStats): void {
    if (!stats.isFile()) throw new NotAPlainFileError("it is not a file");
    this.#seen.add(identityOf(stats));
    const beside = SOURCE_PROGRAMS.flatMap((program) => program.filesBeside?.(path) ?? []);
    const states = beside.flatMap((other) => {
      const state = statSync(other, { bigint: true, throwIfNoEntry: false });
      return state === undefined ? [] : fileIn(other, state);
    });
    this.files.set(path, { ...fileIn(path, stats), ...(states.length > 0 && { beside: states }) });
  }

  /** Calls, and reports what fails, except that something is gone. */
  #try(path: string, call: () => void): void {
    try {
      ifPresent(call);
    } catch (error) {
      this.#report(path, error);
    }
  }
}

function fileIn(path: string, { size, mtimeNs }: BigIntStats): SourceFile {
  return { path, size: Number(size), mtimeMs: Number(mtimeNs) / 1e6 };
}

/** Tells whether a file may hold sessions, judged by its path. */
function mayHoldSessions(path: string): boolean {
  const answers = SOURCE_PROGRAMS.flatMap((program) => program.isOwn?.(path) ?? []);
  return answers.includes(true) || (/\.jsonl?$/.test(path) && !answers.includes(false));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Tells whether a link leads to a folder that it lies in. */
function leadsUpwards(link: string): boolean {
  const target = realpathSync(link);
  const folder = realpathSync(dirname(link));
  return folder === target || folder.startsWith(target.endsWith(sep) ? target : `${target}${sep}`);
}
