import { expect, test } from "vitest";
import { isSessionError } from "../../../src/core/format/errors.ts";
import { ImportCache } from "../../../src/interop/history/import-cache.ts";
import { findSourceSessions } from "../../../src/interop/history/source-query.ts";
import { SourceReader } from "../../../src/interop/history/source-reader.ts";
import type { ImportedSession } from "../../../src/interop/import/imported-session.ts";
import { isTypedError, replaceEachValue, takeTried } from "../../support/hostile-values.ts";
import { joinLines } from "../import/support/claude-records.ts";
import { RICH_SOURCES, type SourceContent } from "../import/support/rich-sources.ts";
import { readView } from "../import/support/session-view.ts";
import { Places } from "./support/places.ts";

/** Home folder with the files of one session. */
class Home extends Places {
  readonly #files: { readonly [path: string]: SourceContent };

  constructor(files: { readonly [path: string]: SourceContent }) {
    super();
    this.#files = files;
    for (const [path, content] of Object.entries(files)) this.put(path, writeContent(content));
  }

  /** Yields each change to a file, while it is written. */
  *writeHostileFiles(): Generator<string, void> {
    for (const [path, content] of Object.entries(this.#files)) {
      if ("text" in content) continue;
      const values = structuredClone("records" in content ? content.records : content.document);
      for (const { place, document } of takeTried(replaceEachValue(values), 7)) {
        const isLines = "records" in content && Array.isArray(document);
        this.put(path, isLines ? joinLines(document) : JSON.stringify(document));
        yield `${path}: ${place}`;
      }
      this.put(path, writeContent(content));
    }
  }

  /** Reads the sessions in all files, as an import does. */
  async readSessions(): Promise<ImportedSession[]> {
    const { home, cacheDir } = this;
    const reader = new SourceReader({ cacheDir });
    const sessions: ImportedSession[] = [];
    const query = { paths: [home], env: { HOME: home }, cacheDir, onSkipped: expectDocumented };
    for (const session of await findSourceSessions(query, new ImportCache("none", cacheDir), reader)) {
      const options = { importedAt: IMPORTED_AT, begunAt: undefined, known: [], ownId: undefined, cacheDir };
      try {
        sessions.push(...(await reader.readSession(session, options)));
      } catch (error) {
        expectDocumented(session.sourceId, error);
      }
    }
    await reader.close();
    return sessions;
  }
}

const IMPORTED_AT = "2027-01-01T00:00:00.000Z";

function writeContent(content: SourceContent): string {
  if ("text" in content) return content.text;
  return "records" in content ? joinLines(content.records) : JSON.stringify(content.document);
}

/** Checks that an error is one that callers can handle, and is not made from an error of the engine. */
function expectDocumented(path: string, error: unknown): void {
  if (!isSessionError(error)) throw error;
  const { cause = error } = error;
  expect(isTypedError(cause), `${path}: ${cause}`).toBe(true);
}

/** Checks that a session can be written and read, and accounts for every record. */
function expectValid(session: ImportedSession): void {
  const { read, problems } = readView(session);
  expect(read.issues).toEqual([]);
  // Entries of pi are imported as they are, whatever their messages contain.
  if (session.source !== "pi-v4") expect(problems).toEqual([]);
  const { counts } = session;
  expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
  expect(counts.mapped).toBeGreaterThanOrEqual(0);
}

test.each([...RICH_SOURCES])(
  "imports a session of %s, whatever value any of its fields has",
  async (_, { source, files }) => {
    const home = new Home(files);
    const healthy = await home.readSessions();
    expect(healthy.map((one) => one.source)).toContain(source);
    healthy.forEach(expectValid);
    for (const place of home.writeHostileFiles()) {
      try {
        for (const session of await home.readSessions()) expectValid(session);
      } catch (error) {
        throw new Error(`fails if ${place}`, { cause: error });
      }
    }
  },
);
