import { mkdirSync, readFileSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  deleteMarked,
  isDeletedImport,
  markDeletedImport,
  unmarkDeletedImport,
} from "../../../src/catalog/list/deleted-imports.ts";
import { deleteSession } from "../../../src/catalog/trash/trash.ts";
import { SessionError } from "../../../src/core/format/errors.ts";
import { type ImportPreview, previewImport } from "../../../src/interop/history/import-sessions.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import { failing } from "../../support/failing-calls.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { joinLines, SESSION_ID, user } from "../import/support/claude-records.ts";
import { Places } from "./support/places.ts";
import { CLAUDE_PATH, forget, put } from "./support/transcript.ts";

const ORIGIN = { source: "claude-code", sourceId: SESSION_ID };
const OTHER_ID = "0199d8e6-ffff-4000-8000-00000000ffff";

let marks = "";

beforeEach(() => {
  const data = temporaryFolder();
  vi.stubEnv("XDG_DATA_HOME", data);
  marks = join(data, "sessiontree", "deleted-imports");
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Makes the marks folder one that no user can read. */
function breakMarks(): () => void {
  mkdirSync(join(marks, ".."), { recursive: true });
  symlinkSync(marks, marks);
  return () => unlinkSync(marks);
}

/** Creates places with one session that was imported and one that was not. */
async function twoSources(): Promise<Places> {
  const places = new Places();
  put(places, 4);
  await places.import();
  places.put(
    CLAUDE_PATH.replace(SESSION_ID, OTHER_ID),
    joinLines([{ ...user("f", null, "other"), sessionId: OTHER_ID }]),
  );
  return places;
}

describe.skipIf(process.platform === "win32")("unreadable marks", () => {
  test("are reported once, and keep back only what is not here", async () => {
    const places = await twoSources();
    const mend = breakMarks();
    for (const count of [4, 6, 6]) {
      put(places, count);
      const skipped: string[] = [];
      const onSkipped = (path: string, error: unknown) => skipped.push(`${path} ${Object(error).code}`);
      const all = await places.import({ onSkipped });
      expect(all.map(({ sourceId }) => sourceId)).toEqual([SESSION_ID]);
      expect(skipped).toEqual([`${marks} READ_FAILED`]);
    }
    mend();
    expect((await places.import()).map(({ status }) => status).sort()).toEqual(["new", "unchanged"]);
  });

  test("do not end an import of known sessions whose sources were removed, nor its preview", async () => {
    const places = await twoSources();
    const [one] = (await places.import()).filter(({ sourceId }) => sourceId === SESSION_ID);
    await deleteSession(one?.path ?? "", { permanent: true });
    await places.import();
    vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
    marks = join(process.env["XDG_DATA_HOME"] ?? "", "sessiontree", "deleted-imports");
    breakMarks();
    const skipped: string[] = [];
    const onSkipped = (path: string) => skipped.push(path);
    expect((await places.import({ onSkipped })).map(({ sourceId }) => sourceId)).toEqual([OTHER_ID]);
    expect(skipped.splice(0)).toEqual([marks]);
    const preview: ImportPreview[] = await previewImport({
      store: fileStore({ sessionDir: places.sessions }),
      env: { HOME: places.home },
      cacheDir: places.cacheDir,
      onSkipped,
    });
    expect(preview).toMatchObject([{ sessions: 2, changed: 1 }]);
    expect(skipped).toEqual([marks]);
  });

  test("end an import without a report callback", async () => {
    const places = await twoSources();
    breakMarks();
    await expect(places.import()).rejects.toMatchObject({ code: "READ_FAILED", details: { path: marks } });
  });

  test("do not prevent deleting, restoring, or importing again", async () => {
    const places = await twoSources();
    const warnings = vi.spyOn(process, "emitWarning").mockReturnValue();
    breakMarks();
    expect(markDeletedImport(ORIGIN)).toBe(false);
    unmarkDeletedImport(ORIGIN);
    expect((await places.import({ again: true })).map(({ status }) => status).sort()).toEqual([
      "new",
      "unchanged",
    ]);
    expect(warnings.mock.calls.map(([, options]) => options)).toEqual([
      { code: "SESSIONTREE_DELETED_IMPORT" },
      { code: "SESSIONTREE_DELETED_IMPORT" },
    ]);
    warnings.mockRestore();
  });
});

test.skipIf(process.platform === "win32")(
  "reports a mark that cannot be written once for each deletion",
  async () => {
    const warnings = vi.spyOn(process, "emitWarning").mockReturnValue();
    breakMarks();
    await deleteMarked([ORIGIN], () => undefined);
    expect(warnings).toHaveBeenCalledTimes(1);
    warnings.mockRestore();
  },
);

test("reports an unreadable session file and imports the rest", async () => {
  const places = await twoSources();
  const [one] = (await places.import()).filter(({ sourceId }) => sourceId === SESSION_ID);
  const refused = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
  const heal = failing("openSync", refused, (path) => path === one?.path);
  const skipped: string[] = [];
  try {
    const all = await places.import({ onSkipped: (path) => skipped.push(path) });
    expect(all.map(({ sourceId }) => sourceId)).toEqual([OTHER_ID]);
  } finally {
    heal();
  }
  expect(skipped).toEqual([expect.stringContaining(SESSION_ID)]);
});

test("ends an import if a sessions folder is unreadable, because its sessions would be duplicated", async () => {
  const places = await twoSources();
  const refused = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
  forget(places);
  const before = places.files();
  const heal = failing("readdirSync", refused, (path) => path === places.sessions);
  try {
    await expect(places.import({ onSkipped: () => undefined })).rejects.toMatchObject({
      code: "READ_FAILED",
      details: { path: places.sessions },
    });
  } finally {
    heal();
  }
  expect(places.files()).toEqual(before);
});

test("retries a store whose list fails midway, and does not import its sessions twice", async () => {
  const places = await twoSources();
  const store = memoryStore();
  const into = { store, storeName: "memory" };
  await places.import(into);
  await places.import({ ...into, fresh: true });
  put(places);
  forget(places);
  const { list } = store;
  let failures = 1;
  store.list = async function* (...given) {
    for await (const one of list.apply(store, given)) {
      if (failures-- > 0) throw new SessionError("STORE_UNAVAILABLE", "The store is away.");
      yield one;
    }
  };
  const skipped: string[] = [];
  const all = await places.import({ ...into, onSkipped: (path) => skipped.push(path) });
  expect(skipped).toHaveLength(1);
  // The newest version of each session is kept up to date.
  for (const { id } of all) expect(id).toMatch(/\.m\d+$/);
  await store.close();
});

test("two concurrent imports of one source into one store create each session once and duplicate nothing", async () => {
  const places = await twoSources();
  const store = memoryStore();
  const into = (name: string) => ({ store, storeName: "memory", cacheDir: join(places.root, name) });
  for (const count of [4, 6]) {
    put(places, count);
    const runs = await Promise.all(["a", "b", "c"].map((name) => places.import(into(name))));
    for (const run of runs) expect(run).toHaveLength(2);
  }
  const session = await store.open(SESSION_ID);
  expect(session.issues).toEqual([]);
  const ids = session.getEntries().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const said = session.buildSessionContext().messages;
  expect(said).toHaveLength(6);
  await store.close();
  expect(isDeletedImport(ORIGIN)).toBe(false);
  expect(readFileSync(join(places.home, CLAUDE_PATH), "utf8")).toContain("done");
});

describe("a mark remains", () => {
  test("if another process has deleted the session at the same time", async () => {
    const gone = new SessionError("SESSION_NOT_FOUND", "gone");
    const deleted = deleteMarked([ORIGIN], () => {
      throw gone;
    });
    await expect(deleted).rejects.toBe(gone);
    expect(isDeletedImport(ORIGIN)).toBe(true);
  });

  test("if a restoration removes it before the session is deleted again", async () => {
    await deleteMarked([ORIGIN], () => unmarkDeletedImport(ORIGIN));
    expect(isDeletedImport(ORIGIN)).toBe(true);
  });
});
