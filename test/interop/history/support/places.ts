import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type ImportSessionsOptions,
  importSessions,
  type SessionImport,
} from "../../../../src/interop/history/import-sessions.ts";
import { fileStore } from "../../../../src/stores/file/file-store.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** A home folder with other programs' files, and a folder into which sessions are imported. */
export class Places {
  readonly root = temporaryFolder();
  readonly home = join(this.root, "home");
  readonly sessions = join(this.root, "sessions");
  readonly cacheDir = join(this.root, "cache");

  /** Writes a file below the home folder. */
  put(path: string, text: string | Uint8Array): string {
    const file = join(this.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  async import(more: Partial<ImportSessionsOptions> = {}): Promise<SessionImport[]> {
    const found: SessionImport[] = [];
    const options = {
      ...(more.sessionDir === undefined && { store: fileStore({ sessionDir: this.sessions }) }),
      env: { HOME: this.home },
      cacheDir: this.cacheDir,
      now: () => Date.UTC(2027, 0, 1),
      ...more,
    };
    for await (const one of importSessions(options)) found.push(one);
    return found;
  }

  /** Returns the session files by name. */
  files(): Map<string, string> {
    const names = readdirSync(this.sessions).sort();
    return new Map(names.map((name) => [name, readFileSync(join(this.sessions, name), "utf8")]));
  }
}
