import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { SessionManager } from "sessiontree";
import { deleteSession, type FileRow, type IterateOptions, iterateSessions } from "sessiontree/catalog";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { CatalogCache } from "../../../src/catalog/list/catalog-cache.ts";
import { summarizeFile } from "../../../src/catalog/list/file-summary.ts";
import { isKeptAt, toFileMark } from "../../../src/session/files/file-mark.ts";
import { listSessionFiles } from "../../../src/session/files/session-files.ts";
import { Pace } from "../../../src/session/files/time-slices.ts";
import { Chain, header, put, touch } from "../../catalog/support/sessions.ts";
import { beforeCall } from "../../support/before-call.ts";
import { IS_WINDOWS, IS_WINE } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const SECRET = "hunter2";

let sessionDir: string;
let cacheDir: string;
let path: string;
beforeEach(() => {
  sessionDir = temporaryFolder();
  cacheDir = temporaryFolder();
  path = put(join(sessionDir, "a.jsonl"), new Chain().name(SECRET).user(SECRET).text, 0);
  put(join(sessionDir, "b.jsonl"), new Chain(header({ id: "b" })).user("harmless").text, 1);
});

/** Lists a folder, keeping a cache. */
const list = (folder = sessionDir) => rowsOf({ sessionDir: folder, cacheDir });

async function rowsOf(options: IterateOptions): Promise<FileRow[]> {
  const rows: FileRow[] = [];
  for await (const row of iterateSessions(options)) rows.push(row);
  return rows;
}

/** All that a cache holds, whatever its files are called. */
const cached = (folder = cacheDir) =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");

/** Takes the secret out of the file, as another program does that knows of no cache. */
function redactElsewhere(): void {
  renameSync(put(join(sessionDir, "new"), readFileSync(path, "utf8").replaceAll(SECRET, "[gone]"), 5), path);
}

/** Makes the files of the cache look as if nobody had been at them for so many hours. */
function age(hours: number): void {
  const then = Date.now() / 1000 - hours * 3600;
  for (const name of readdirSync(cacheDir)) utimesSync(join(cacheDir, name), then, then);
}

describe("what a cache of lists holds of a session", () => {
  test("goes when an entry is redacted, and nothing else of the folder does", async () => {
    await list();
    expect(cached()).toContain(SECRET);
    const session = SessionManager.open(path);
    for (const { id } of session.getEntries()) session.redact(id);
    expect(cached()).not.toContain(SECRET);
    expect(cached()).toContain("harmless");
    expect((await list()).map(({ firstMessage }) => firstMessage).sort()).toEqual(["[redacted]", "harmless"]);
    expect(cached()).not.toContain(SECRET);
  });

  test.each([{ permanent: true }, { permanent: true, force: true }])(
    "goes when it is deleted with %j",
    async (options) => {
      await list();
      await deleteSession(path, options);
      expect(cached()).not.toContain(SECRET);
      expect(cached()).toContain("harmless");
    },
  );

  // Links need a right of their own on Windows.
  test.skipIf(IS_WINDOWS)(
    "goes from the default cache, too, under whatever name the folder was listed",
    async () => {
      vi.stubEnv("XDG_CACHE_HOME", cacheDir);
      const other = temporaryFolder();
      rmSync(other, { recursive: true });
      renameSync(sessionDir, other);
      symlinkSync(other, sessionDir);
      await rowsOf({ sessionDir });
      await rowsOf({ sessionDir: other });
      const folder = join(cacheDir, "sessiontree");
      expect(readdirSync(folder)).toHaveLength(2);
      await deleteSession(join(other, "a.jsonl"), { permanent: true });
      expect(cached(folder)).not.toContain(SECRET);
      vi.unstubAllEnvs();
    },
  );

  test("does not come back by a list that was at it meanwhile", async () => {
    for await (const { id } of iterateSessions({ sessionDir, cacheDir })) {
      if (id === "b") continue;
      const session = SessionManager.open(path);
      for (const { id: entryId } of session.getEntries()) session.redact(entryId);
    }
    expect(cached()).not.toContain(SECRET);
    expect(cached()).toContain("harmless");
  });

  test("does not come back by a list that writes it meanwhile", async () => {
    const cache = new CatalogCache({ cacheDir });
    const files = [...listSessionFiles(sessionDir, () => undefined)];
    for (const file of files) cache.putSummary(file, await summarizeFile(file.path, undefined, new Pace()));
    // Everything that is checked before the file is written has been.
    const saved = cache.save([sessionDir], files);
    const session = SessionManager.open(path);
    for (const { id } of session.getEntries()) session.redact(id);
    await saved;
    expect(cached()).not.toContain(SECRET);
  });

  test.skipIf(IS_WINE)("stays as far as it is known when the file grows while it is listed", async () => {
    for await (const { id } of iterateSessions({ sessionDir, cacheDir })) {
      if (id !== "b") SessionManager.open(path).appendSessionInfo("another name");
    }
    expect(cached()).toContain(SECRET);
    expect(await list()).toContainEqual(
      expect.objectContaining({ name: "another name", firstMessage: SECRET }),
    );
  });

  test("goes when the folder is listed after another program redacted or removed the file", async () => {
    await list();
    redactElsewhere();
    await list();
    expect(cached()).not.toContain(SECRET);
    rmSync(path);
    await list();
    expect(cached()).not.toContain("[gone]");
  });

  test("goes by any list of a later day if nobody lists that folder any more", async () => {
    const elsewhere = temporaryFolder();
    await list();
    redactElsewhere();
    age(23);
    await list(elsewhere);
    expect(cached()).toContain(SECRET);
    age(25);
    await list(elsewhere);
    expect(cached()).not.toContain(SECRET);
    expect(cached()).toContain("harmless");
    rmSync(sessionDir, { recursive: true });
    age(25);
    await list(elsewhere);
    expect(cached()).not.toContain("harmless");
  });

  test("goes with what a process left that was killed while it wrote the cache", async () => {
    await list();
    const [name = ""] = readdirSync(cacheDir);
    const left = put(join(cacheDir, `${name}.123456`), SECRET);
    await list();
    expect(existsSync(left)).toBe(true);
    touch(left, 0);
    await list();
    expect(existsSync(left)).toBe(false);
  });

  test("that cannot be taken out is a warning, and the session is redacted all the same", async () => {
    await list();
    const [name = ""] = readdirSync(cacheDir);
    rmSync(join(cacheDir, name));
    put(join(cacheDir, name, "in-the-way"), "");
    const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
    const session = SessionManager.open(path);
    session.redact(session.getLeafId() ?? "");
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining(`${cacheDir} may still hold text of ${path}: EISDIR`),
      {
        code: "SESSIONTREE_CACHE",
      },
    );
    warn.mockRestore();
    expect(readFileSync(path, "utf8")).toContain("[redacted]");
  });
});

test.each([
  ["is about to write", "openSync"],
  ["has written", "renameSync"],
] as const)(
  "nothing is left of two sessions that are redacted at once, when one process %s the cache",
  async (_when, call) => {
    put(join(sessionDir, "b.jsonl"), new Chain(header({ id: "b" })).user(SECRET).text, 1);
    put(join(sessionDir, "c.jsonl"), new Chain(header({ id: "c" })).user("harmless").text, 2);
    await list();
    const redact = (file: string) => {
      const session = SessionManager.open(file);
      for (const { id } of session.getEntries()) session.redact(id);
    };
    const [name = ""] = readdirSync(cacheDir).filter((one) => one.endsWith(".json"));
    // What is written first has a longer name.
    const isWritten = (file: unknown) => String(file).startsWith(join(cacheDir, `${name}.`));
    beforeCall(call, isWritten, () => redact(path));
    redact(join(sessionDir, "b.jsonl"));
    expect(cached()).not.toContain(SECRET);
  },
);

test("what is known of a file is not kept for a larger one that got its number", () => {
  const stats = statSync(path);
  const shorter = { ...toFileMark(stats), size: stats.size - 1 };
  expect(isKeptAt(path, shorter)).toBe(stats.ino !== 0);
  expect(isKeptAt(path, { ...shorter, birthtimeMs: stats.birthtimeMs - 1 })).toBe(false);
});
