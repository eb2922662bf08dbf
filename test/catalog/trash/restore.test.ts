import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "sessiontree";
import { deleteSession, listTrashed, restoreSession } from "sessiontree/catalog";
import { afterEach, describe, expect, test, vi } from "vitest";
import { isDeletedImport } from "../../../src/catalog/list/deleted-imports.ts";
import { assertReadableTrash, listTrashFolders } from "../../../src/catalog/trash/restore.ts";
import { beforeCall } from "../../support/before-call.ts";
import { assistant } from "../../support/messages.ts";
import { PROCESS_DATA } from "../../support/process-home.ts";
import { folder, home, trash, useTrashHome } from "../../support/trash-home.ts";

useTrashHome();

function sessionText(id: string): string {
  const header = {
    type: "session",
    version: 3,
    id,
    timestamp: "2026-02-03T22:00:00.000Z",
    cwd: "/projects/a",
  };
  const message = { role: "user", content: `Hello from ${id}`, timestamp: 1 };
  const entry = { type: "message", id: "00000001", parentId: null, timestamp: header.timestamp, message };
  return `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`;
}

function makeSession(name: string, id = name): string {
  const path = join(folder, name);
  writeFileSync(path, sessionText(id));
  return path;
}

/** Writes a file to a trash as a desktop would. */
function discard(note: string, text = sessionText("one"), at = trash, name = "one"): string {
  for (const part of ["files", "info"]) mkdirSync(join(at, part), { recursive: true });
  writeFileSync(join(at, "files", name), text);
  writeFileSync(join(at, "info", `${name}.trashinfo`), note);
  return join(at, "files", name);
}

const note = (path: string, date = "2026-02-03T10:11:12") =>
  `[Trash Info]\nPath=${path}\nDeletionDate=${date}\n`;

async function theOne() {
  const [one, ...others] = await listTrashed();
  if (one === undefined || others.length > 0) throw new Error("There is not exactly one.");
  return one;
}

const onLinux = describe.runIf(process.platform === "linux");

onLinux("a deleted session", () => {
  test.each(["a.jsonl", "100% [1] #ä?.jsonl", " space .jsonl", "a%20b.jsonl"])(
    "%s is listed and restored unchanged",
    async (name) => {
      const path = makeSession(name);
      const [text, { mtimeMs, mode, size }] = [readFileSync(path, "utf8"), statSync(path)];
      await deleteSession(path);
      const one = await theOne();
      expect(one).toMatchObject({ path, size, session: { id: name, cwd: "/projects/a" } });
      expect(Math.abs(Date.now() - (one.deleted?.getTime() ?? 0))).toBeLessThan(60_000);
      expect(one.session.firstMessage).toBe(`Hello from ${name}`);
      expect(await restoreSession(one)).toBe(path);
      expect(readFileSync(path, "utf8")).toBe(text);
      expect(statSync(path)).toMatchObject({ mtimeMs, mode, nlink: 1 });
      expect([readdirSync(join(trash, "files")), readdirSync(join(trash, "info"))]).toEqual([[], []]);
      expect(await listTrashed()).toEqual([]);
    },
  );

  test.each(["a.jsonl", "b.jsonl"])("is restored with its partial answer (to %s)", async (name) => {
    const path = makeSession("a.jsonl");
    await SessionManager.open(path).savePartialAnswer(assistant("Half", { stopReason: "pending" }));
    await deleteSession(path);
    expect(readdirSync(folder)).toEqual([]);
    const to = await restoreSession(await theOne(), { to: join(folder, name) });
    expect([readdirSync(join(trash, "files")), readdirSync(join(trash, "info"))]).toEqual([[], []]);
    const session = SessionManager.open(to);
    expect(await session.recoverPartialAnswer()).toMatchObject({ content: [{ text: "Half" }] });
    expect(session.issues).toEqual([]);
  });

  test("takes its partial answer with it when permanently deleted, even after its file was renamed", async () => {
    const path = makeSession("a.jsonl");
    await SessionManager.open(path).savePartialAnswer(assistant("Half", { stopReason: "pending" }));
    const renamed = join(folder, "b.jsonl");
    renameSync(path, renamed);
    makeSession("c.jsonl");
    await deleteSession(renamed, { permanent: true });
    expect(readdirSync(folder)).toEqual(["c.jsonl"]);
  });

  test("is restored to a folder that no longer exists", async () => {
    const path = makeSession("a.jsonl");
    await deleteSession(path);
    rmSync(folder, { recursive: true });
    await restoreSession(await theOne());
    expect(readFileSync(path, "utf8")).toBe(sessionText("a.jsonl"));
  });

  test("is restored to another path on request", async () => {
    const path = makeSession("a.jsonl");
    await deleteSession(path);
    const to = join(folder, "b.jsonl");
    expect(await restoreSession(await theOne(), { to })).toBe(to);
    expect(readdirSync(folder)).toEqual(["b.jsonl"]);
  });

  test("never replaces an existing file, not even a dangling link", async () => {
    const path = makeSession("a.jsonl");
    await deleteSession(path);
    const one = await theOne();
    writeFileSync(path, "new");
    await expect(restoreSession(one)).rejects.toMatchObject({ code: "SESSION_EXISTS", details: { path } });
    expect(readFileSync(path, "utf8")).toBe("new");
    rmSync(path);
    symlinkSync(join(folder, "nowhere"), path);
    await expect(restoreSession(one)).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
    expect(await theOne()).toMatchObject({ path });
  });

  test("is restored only once", async () => {
    await deleteSession(makeSession("a.jsonl"));
    const one = await theOne();
    await restoreSession(one);
    await expect(restoreSession(one)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  test("stays in the trash if it cannot be restored", async () => {
    const path = makeSession("a.jsonl");
    await deleteSession(path);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "no folder");
    await expect(restoreSession(await theOne())).rejects.toMatchObject({ code: "WRITE_FAILED" });
    rmSync(folder);
    expect(await theOne()).toMatchObject({ path });
  });
});

onLinux("the list of the trash", () => {
  test("is empty where nothing was ever deleted", async () => {
    expect(await listTrashed()).toEqual([]);
  });

  test("starts with the one deleted last", async () => {
    discard(note("/projects/a.jsonl", "2026-02-03T10:00:00"), sessionText("a"), trash, "z");
    discard(note("/projects/b.jsonl", "2026-02-03T12:00:00"), sessionText("b"), trash, "y");
    discard(note("/projects/c.jsonl", "nonsense"), sessionText("c"), trash, "x");
    const listed = await listTrashed();
    expect(listed.map(({ session }) => session.id)).toEqual(["b", "a", "c"]);
    expect(listed.map(({ deleted }) => deleted?.getTime())).toEqual([
      new Date(2026, 1, 3, 12).getTime(),
      new Date(2026, 1, 3, 10).getTime(),
      undefined,
    ]);
  });

  test("follows the order of deletion within a second", async () => {
    for (const name of ["a.jsonl", "b.jsonl", "c.jsonl"]) await deleteSession(makeSession(name));
    const listed = await listTrashed();
    expect(listed.map(({ session }) => session.id)).toEqual(["c.jsonl", "b.jsonl", "a.jsonl"]);
  });

  test.each([
    ["a file of another kind", note("/projects/a.txt")],
    ["a relative path", note("a.jsonl")],
    ["a path that is not a string", note("/projects/%ff.jsonl")],
    ["a path with a zero byte", note("/projects/%00.jsonl")],
    ["no path", "[Trash Info]\n"],
    ["an oversized note", note("/projects/a.jsonl") + " ".repeat(70_000)],
  ])("omits %s", async (_what, text) => {
    discard(text);
    expect(await listTrashed()).toEqual([]);
  });

  test("omits a note without its file, a link, and a file that is not a session, which it reports", async () => {
    rmSync(discard(note("/projects/a.jsonl"), "", trash, "gone"));
    const link = discard(note("/projects/b.jsonl"), "", trash, "link");
    rmSync(link);
    symlinkSync(makeSession("b.jsonl"), link);
    const prose = discard(note("/projects/c.jsonl"), "my notes\n", trash, "prose");
    const skipped: unknown[] = [];
    expect(await listTrashed({ onSkipped: (one) => skipped.push(one) })).toEqual([]);
    expect(skipped).toEqual([{ path: prose, reason: "not-a-session" }]);
  });

  test("ends when the caller aborts", async () => {
    discard(note("/projects/a.jsonl"));
    await expect(listTrashed({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
  });
});

onLinux("the trash of another file system", () => {
  // A second file system is hard to get, but this one has a top, too, and shared memory is another on most machines.
  const shared = "/dev/shm";
  const hasShared = existsSync(shared) && statSync(shared).dev !== statSync(tmpdir()).dev;

  test.runIf(hasShared)("is found, and a session is restored from it across file systems", async () => {
    const top = mkdtempSync(join(shared, "sessiontree-"));
    try {
      const path = discard(note("sub/a.jsonl"), sessionText("far"), top);
      const to = join(folder, "far.jsonl");
      const infoPath = join(top, "info", "one.trashinfo");
      expect(await restoreSession({ path: to, trashPath: path, infoPath })).toBe(to);
      expect(readFileSync(to, "utf8")).toBe(sessionText("far"));
      expect([readdirSync(join(top, "files")), readdirSync(join(top, "info"))]).toEqual([[], []]);
      expect(statSync(to).mode & 0o777).toBe(0o600);
    } finally {
      rmSync(top, { recursive: true });
    }
  });

  test("is searched for at the top of the named folders", () => {
    const [first, ...others] = listTrashFolders([folder, join(folder, "missing", "deep")]);
    expect(first).toEqual({ path: trash, top: undefined });
    for (const { path, top } of others) {
      expect(top).toBeDefined();
      expect(path.startsWith(join(top ?? "", ".Trash"))).toBe(true);
      expect(statSync(path).uid).toBe(process.getuid?.());
    }
  });

  test("follows XDG_DATA_HOME only if that is absolute", () => {
    vi.stubEnv("XDG_DATA_HOME", "data");
    try {
      expect(listTrashFolders([])[0]?.path).toBe(join(home, ".local", "share", "Trash"));
    } finally {
      vi.stubEnv("XDG_DATA_HOME", join(home, "data"));
    }
  });
});

onLinux("an imported session", () => {
  const origin = { source: "codex", sourceId: "one" };
  const marks = join(PROCESS_DATA, "sessiontree", "deleted-imports");
  const header = { type: "session", version: 3, id: "one", timestamp: "2026-02-03T22:00:00.000Z", cwd: "/a" };
  const first = {
    type: "custom",
    id: "00000001",
    parentId: null,
    timestamp: header.timestamp,
    customType: "sessiontree.import",
    data: origin,
  };
  const imported = `${JSON.stringify(header)}\n${JSON.stringify(first)}\n`;

  afterEach(() => rmSync(marks, { recursive: true, force: true }));

  test.each([[undefined], ["elsewhere.jsonl"]])(
    "may be imported again after its restoration (to: %s)",
    async (to) => {
      const path = join(folder, "one.jsonl");
      writeFileSync(path, imported);
      await deleteSession(path);
      expect(isDeletedImport(origin)).toBe(true);
      await restoreSession(await theOne(), to === undefined ? {} : { to: join(folder, to) });
      expect(isDeletedImport(origin)).toBe(false);
    },
  );

  test("remains if the session is not restored, and if another one is", async () => {
    const path = join(folder, "one.jsonl");
    writeFileSync(path, imported);
    await deleteSession(path);
    const one = await theOne();
    writeFileSync(path, sessionText("another"));
    await expect(restoreSession(one)).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    discard(note(join(folder, "two.jsonl")), sessionText("two"), trash, "two");
    const two = (await listTrashed()).find(({ session }) => session.id === "two");
    await restoreSession(two ?? one);
    expect(isDeletedImport(origin)).toBe(true);
  });

  test("causes a warning if it cannot be removed on a restore", async () => {
    const path = join(folder, "one.jsonl");
    writeFileSync(path, imported);
    await deleteSession(path);
    const [mark = ""] = readdirSync(marks);
    rmSync(join(marks, mark));
    mkdirSync(join(marks, mark));
    const warnings = vi.spyOn(process, "emitWarning").mockReturnValue();
    const one = await theOne();
    expect(await restoreSession(one)).toBe(path);
    expect(readFileSync(path, "utf8")).toBe(imported);
    expect(existsSync(one.infoPath)).toBe(false);
    expect(warnings.mock.calls).toEqual([
      [expect.stringContaining(marks), { code: "SESSIONTREE_DELETED_IMPORT" }],
    ]);
    warnings.mockRestore();
  });
});

test("other systems explain how to restore manually", () => {
  expect(() => assertReadableTrash("darwin")).toThrow(/Finder.*Put Back/);
  expect(() => assertReadableTrash("win32")).toThrow(/Recycle Bin.*Restore/);
  expect(() => assertReadableTrash("linux")).not.toThrow();
});

test.runIf(process.platform === "linux" && process.getuid?.() !== 0)(
  "an unreadable trash is reported and counts as empty",
  async () => {
    discard(note("/projects/a.jsonl"));
    chmodSync(join(trash, "info"), 0);
    try {
      const skipped: string[] = [];
      expect(await listTrashed({ onSkipped: ({ reason }) => skipped.push(reason) })).toEqual([]);
      expect(skipped).toEqual(["unreadable"]);
    } finally {
      chmodSync(join(trash, "info"), 0o700);
    }
  },
);

onLinux("a session that other processes change during its restoration", () => {
  test("that another process has restored is no longer in the trash", async () => {
    const path = makeSession("one.jsonl");
    await deleteSession(path);
    const one = await theOne();
    beforeCall(
      "linkSync",
      (from) => from === one.trashPath,
      () => rmSync(one.trashPath),
    );
    await expect(restoreSession(one)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  test("is marked as deleted again if it is deleted again", async () => {
    const origin = { source: "codex", sourceId: "x" };
    const path = join(folder, "one.jsonl");
    const [header = "", entry = ""] = sessionText("one").split("\n");
    const data = { ...origin, sourcePath: "/x" };
    const told = { ...JSON.parse(entry), type: "custom", customType: "sessiontree.import", data };
    writeFileSync(path, `${header}\n${JSON.stringify(told)}\n`);
    await deleteSession(path);
    expect(isDeletedImport(origin)).toBe(true);
    beforeCall(
      "unlinkSync",
      (file) => String(file).includes("deleted-imports"),
      () => rmSync(path),
    );
    await restoreSession(await theOne());
    expect(isDeletedImport(origin)).toBe(true);
  });
});
