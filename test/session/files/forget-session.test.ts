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

/** Returns the content of a cache, whatever the names of its files. */
const cached = (folder = cacheDir) =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");

/** Removes the secret from the file, as another program does that ignores the cache. */
function redactElsewhere(): void {
  renameSync(put(join(sessionDir, "new"), readFileSync(path, "utf8").replaceAll(SECRET, "[gone]"), 5), path);
}

/** Sets the times of the cache's files back by the given number of hours. */
function age(hours: number): void {
  const then = Date.now() / 1000 - hours * 3600;
  for (const name of readdirSync(cacheDir)) utimesSync(join(cacheDir, name), then, then);
}

describe("a session's data in a list cache", () => {
  test("is removed when an entry is redacted, and no other data of the folder", async () => {
    await list();
    expect(cached()).toContain(SECRET);
    const session = SessionManager.open(path);
    for (const { id } of session.getEntries()) session.redactEntry(id);
    expect(cached()).not.toContain(SECRET);
    expect(cached()).toContain("harmless");
    expect((await list()).map(({ firstMessage }) => firstMessage).sort()).toEqual(["[redacted]", "harmless"]);
    expect(cached()).not.toContain(SECRET);
  });

  test.each([{ permanent: true }, { permanent: true, force: true }])(
    "is removed when the session is deleted with %j",
    async (options) => {
      await list();
      await deleteSession(path, options);
      expect(cached()).not.toContain(SECRET);
      expect(cached()).toContain("harmless");
    },
  );

  // Links require a privilege on Windows.
  test.skipIf(IS_WINDOWS)(
    "is removed from the default cache, too, under any path by which the folder was listed",
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

  test("is not restored by a list that was running in the meantime", async () => {
    for await (const { id } of iterateSessions({ sessionDir, cacheDir })) {
      if (id === "b") continue;
      const session = SessionManager.open(path);
      for (const { id: entryId } of session.getEntries()) session.redactEntry(entryId);
    }
    expect(cached()).not.toContain(SECRET);
    expect(cached()).toContain("harmless");
  });

  test("is not restored by a list that writes it in the meantime", async () => {
    const cache = new CatalogCache({ cacheDir });
    const files = [...listSessionFiles(sessionDir, () => undefined)];
    for (const file of files) cache.putSummary(file, await summarizeFile(file.path, undefined, new Pace()));
    // At this point, all checks before the write have passed.
    const saved = cache.save([sessionDir], files);
    const session = SessionManager.open(path);
    for (const { id } of session.getEntries()) session.redactEntry(id);
    await saved;
    expect(cached()).not.toContain(SECRET);
  });

  test.skipIf(IS_WINE)("is kept as far as it is known if the file grows during the list", async () => {
    for await (const { id } of iterateSessions({ sessionDir, cacheDir })) {
      if (id !== "b") SessionManager.open(path).appendSessionInfo("another name");
    }
    expect(cached()).toContain(SECRET);
    expect(await list()).toContainEqual(
      expect.objectContaining({ name: "another name", firstMessage: SECRET }),
    );
  });

  test("is removed when the folder is listed after another program redacted or removed the file", async () => {
    await list();
    redactElsewhere();
    await list();
    expect(cached()).not.toContain(SECRET);
    rmSync(path);
    await list();
    expect(cached()).not.toContain("[gone]");
  });

  test("is removed by any list on a later day if that folder is not listed anymore", async () => {
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

  test("is removed with the temporary files of a process killed while writing the cache", async () => {
    await list();
    const [name = ""] = readdirSync(cacheDir);
    const left = put(join(cacheDir, `${name}.123456`), SECRET);
    await list();
    expect(existsSync(left)).toBe(true);
    touch(left, 0);
    await list();
    expect(existsSync(left)).toBe(false);
  });

  test("that cannot be removed is a warning, and the session is redacted nevertheless", async () => {
    await list();
    const [name = ""] = readdirSync(cacheDir);
    rmSync(join(cacheDir, name));
    put(join(cacheDir, name, "in-the-way"), "");
    const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
    const session = SessionManager.open(path);
    session.redactEntry(session.getLeafId() ?? "");
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining(`${cacheDir} may still contain text of ${path}: EISDIR`),
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
  "no data remains of two sessions redacted at the same time when one process %s the cache",
  async (_when, call) => {
    put(join(sessionDir, "b.jsonl"), new Chain(header({ id: "b" })).user(SECRET).text, 1);
    put(join(sessionDir, "c.jsonl"), new Chain(header({ id: "c" })).user("harmless").text, 2);
    await list();
    const redact = (file: string) => {
      const session = SessionManager.open(file);
      for (const { id } of session.getEntries()) session.redactEntry(id);
    };
    const [name = ""] = readdirSync(cacheDir).filter((one) => one.endsWith(".json"));
    // The file written first has a longer name.
    const isWritten = (file: unknown) => String(file).startsWith(join(cacheDir, `${name}.`));
    beforeCall(call, isWritten, () => redact(path));
    redact(join(sessionDir, "b.jsonl"));
    expect(cached()).not.toContain(SECRET);
  },
);

test("the data of a file is not kept for a larger one that got its inode number", () => {
  const stats = statSync(path);
  const shorter = { ...toFileMark(stats), size: stats.size - 1 };
  expect(isKeptAt(path, shorter)).toBe(stats.ino !== 0);
  expect(isKeptAt(path, { ...shorter, birthtimeMs: stats.birthtimeMs - 1 })).toBe(false);
});
