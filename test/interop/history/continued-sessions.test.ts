import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { deleteSession } from "../../../src/catalog/trash/trash.ts";
import { collectUsage } from "../../../src/catalog/usage/collect-usage.ts";
import { getTexts } from "../../../src/core/context/content-text.ts";
import { getMessageFields } from "../../../src/core/context/entry-fields.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import { previewImport } from "../../../src/interop/history/import-sessions.ts";
import { importTranscript } from "../../../src/interop/history/import-transcript.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import { assistant, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { getImportProvenance } from "../import/support/session-view.ts";
import { exportFrom, exportTo, importAll, makeOriginal, PROGRAMS } from "./support/continuations.ts";
import { Places } from "./support/places.ts";
import { forget } from "./support/transcript.ts";

beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

function open(path: string): SessionManager {
  return SessionManager.open(path, { mode: "read-only" });
}

/** Returns the last text of each message on the path to the leaf. */
function saidAt(path: string, leafId?: string): string[] {
  const session = open(path);
  expect(session.issues).toEqual([]);
  return session.getBranch(leafId).flatMap((entry) => getSaid(entry));
}

function getSaid(entry: AnySessionEntry): string[] {
  const { content } = getMessageFields(entry);
  return content === undefined ? [] : [getTexts(content).join("")];
}

const ORIGINAL = ["Where is the leak?", "I look.", "a tap", "It is the tap."];

async function countTokens(places: Places): Promise<number> {
  const { total } = await collectUsage({ sessionDir: places.sessions, cacheDir: join(places.root, "usage") });
  return total.total;
}

describe.each(PROGRAMS)("a session that continues in %s", (program) => {
  test("is unchanged and not listed as long as nothing is added there", async () => {
    const places = new Places();
    const path = await makeOriginal(places);
    const before = readFileSync(path, "utf8");
    exportFrom(places, program, path);
    const preview = () =>
      previewImport({
        store: fileStore({ sessionDir: places.sessions }),
        cacheDir: places.cacheDir,
        paths: [places.home],
      });
    expect(await preview()).toEqual([]);
    for (const isRemembered of [true, true, false]) {
      if (!isRemembered) forget(places);
      expect(await importAll(places)).toMatchObject([{ status: "unchanged", path }]);
    }
    expect(await preview()).toEqual([]);
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(places.files().size).toBe(1);
  });

  test("gets what is added there, once, as a branch from where it was exported", async () => {
    const places = new Places();
    const path = await makeOriginal(places);
    const { id } = open(path).getHeader() ?? {};
    const continuation = exportFrom(places, program, path);
    continuation.addTurn("And the sink?");
    const [preview] = await previewImport({
      store: fileStore({ sessionDir: places.sessions }),
      cacheDir: places.cacheDir,
      paths: [places.home],
    });
    expect(preview).toMatchObject({ source: program, sessions: 1, changed: 1 });
    for (const [turn, status] of [
      [0, "grown"],
      [0, "unchanged"],
      [1, "grown"],
      [0, "unchanged"],
    ] as const) {
      if (turn === 1) continuation.addTurn("And the bath?");
      const before = readFileSync(path, "utf8");
      const dry = await importAll(places, { dryRun: true });
      expect(dry).toMatchObject([{ status, path: null, id }]);
      expect(readFileSync(path, "utf8")).toBe(before);
      expect(await importAll(places)).toMatchObject([{ status, path, id }]);
      expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
      forget(places);
    }
    expect(places.files().size).toBe(1);
    expect(saidAt(path)).toEqual([
      ...ORIGINAL,
      "And the sink?",
      "done: And the sink?",
      "And the bath?",
      "done: And the bath?",
    ]);
    // The original's two calls and those of two turns.
    expect(await countTokens(places)).toBe(100 + 200 + 50 + 50);
    expect(await importAll(places, { fresh: true })).toMatchObject([{ status: "unchanged", id }]);
  });

  test("keeps its leaf where it was continued here, and gets the rest as another branch", async () => {
    const places = new Places();
    const path = await makeOriginal(places);
    const continuation = exportFrom(places, program, path);
    const session = SessionManager.open(path);
    session.appendMessage(user("Here."));
    await session.close();
    for (const said of ["There.", "There again."]) {
      continuation.addTurn(said);
      expect(await importAll(places)).toMatchObject([{ status: "grown" }]);
      expect(saidAt(path)).toEqual([...ORIGINAL, "Here."]);
    }
    const last = open(path)
      .getEntries()
      .findLast((entry) => getSaid(entry)[0] === "done: There again.");
    expect(saidAt(path, last?.id)).toEqual([
      ...ORIGINAL,
      "There.",
      "done: There.",
      "There again.",
      "done: There again.",
    ]);
  });

  test("is not restored after deletion here, unless explicitly imported", async () => {
    for (const isJoined of [true, false]) {
      const places = new Places();
      const path = await makeOriginal(places);
      const continuation = exportFrom(places, program, path);
      continuation.addTurn("More.");
      if (isJoined) await importAll(places);
      await deleteSession(path, { permanent: true });
      for (const isRemembered of [true, true, false]) {
        if (!isRemembered) forget(places);
        expect(await importAll(places)).toMatchObject([{ status: "deleted", path: null }]);
      }
      continuation.addTurn("And more.");
      expect(await importAll(places)).toMatchObject([{ status: "deleted" }]);
      expect(places.files().size).toBe(0);
      const [again] = await importAll(places, { again: true });
      expect(again).toMatchObject({ status: "new", sourceId: continuation.id });
      expect(saidAt(again?.path ?? "").slice(-4)).toEqual([
        "More.",
        "done: More.",
        "And more.",
        "done: And more.",
      ]);
      continuation.addTurn("Last.");
      expect(await importAll(places)).toMatchObject([{ status: "grown", path: again?.path }]);
    }
  });

  test("is a separate session where the original never existed, without the calls of copies", async () => {
    const places = new Places();
    const path = await makeOriginal(places);
    const continuation = exportFrom(places, program, path);
    const original = open(path);
    const [sessionId, leafId] = [original.getSessionId(), original.getLeafId()];
    const bytes = readFileSync(path);
    rmSync(path);
    const [own] = await importAll(places);
    expect(own).toMatchObject({ status: "new", sourceId: continuation.id });
    const said = saidAt(own?.path ?? "");
    expect(said.join("\n").replace("I look.\n\na tap", "I look.\na tap")).toBe(ORIGINAL.join("\n"));
    expect(getImportProvenance(open(own?.path ?? "").getEntries())).toMatchObject({
      continued: { sessionId, leafId },
    });
    expect(await countTokens(places)).toBe(0);
    continuation.addTurn("More.");
    expect(await importAll(places)).toMatchObject([{ status: "grown", path: own?.path }]);
    expect(await importAll(places)).toMatchObject([{ status: "unchanged", path: own?.path }]);
    expect(await countTokens(places)).toBe(50);
    expect(places.files().size).toBe(1);
    // It remains one if the original arrives.
    writeFileSync(path, bytes);
    continuation.addTurn("Last.");
    expect(await importAll(places)).toMatchObject([{ status: "grown", path: own?.path }]);
    expect(readFileSync(path)).toEqual(bytes);
  });

  test("joins the original in a store without files", async () => {
    const places = new Places();
    const path = await makeOriginal(places);
    const store = memoryStore();
    await store.importBytes(
      (async function* () {
        yield readFileSync(path);
      })(),
    );
    const continuation = exportFrom(places, program, path);
    const target = { store, storeName: "memory" };
    expect(await importAll(places, target)).toMatchObject([{ status: "unchanged" }]);
    continuation.addTurn("More.");
    expect(await importAll(places, target)).toMatchObject([{ status: "grown" }]);
    expect(await importAll(places, target)).toMatchObject([{ status: "unchanged" }]);
    const ids: string[] = [];
    for await (const { id } of store.list()) ids.push(id);
    expect(ids).toHaveLength(1);
    const stored = await store.open(ids[0] ?? "");
    expect(stored.getBranch().flatMap(getSaid)).toEqual([...ORIGINAL, "More.", "done: More."]);
    await store.close();
  });

  test("does not restore what was redacted in the original", async () => {
    const places = new Places();
    const path = await makeOriginal(places);
    const continuation = exportFrom(places, program, path);
    const session = SessionManager.open(path);
    const leafId = session.getLeafId() ?? "";
    const [first] = session.getEntries();
    session.redactEntry(first?.id ?? "");
    session.redactEntry(leafId);
    await session.close();
    continuation.addTurn("More.");
    await importAll(places);
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain("Where is the leak?");
    expect(text).not.toContain("It is the tap.");
    expect(saidAt(path).slice(-2)).toEqual(["More.", "done: More."]);
    // Joined entries can be redacted, too.
    const again = SessionManager.open(path);
    again.redactEntry(again.getEntries().find((entry) => getSaid(entry)[0] === "More.")?.id ?? "");
    await again.close();
    continuation.addTurn("Last.");
    forget(places);
    await importAll(places);
    expect(readFileSync(path, "utf8")).not.toContain('"More."');
    expect(saidAt(path).slice(-2)).toEqual(["Last.", "done: Last."]);
  });

  test("joins when a hook reports it", async () => {
    if (program === "opencode") return;
    const places = new Places();
    const path = await makeOriginal(places);
    const continuation = exportFrom(places, program, path);
    const options = {
      store: fileStore({ sessionDir: places.sessions }),
      env: { HOME: places.home },
      cacheDir: places.cacheDir,
    };
    for (const said of ["One.", "Two."]) {
      continuation.addTurn(said);
      const { imports } = await importTranscript({ path: continuation.path, sourceId: undefined }, options);
      expect(imports).toMatchObject([{ status: "grown", path }]);
    }
    expect(saidAt(path)).toEqual([...ORIGINAL, "One.", "done: One.", "Two.", "done: Two."]);
  });

  test("can be exported again from where it joined", async () => {
    const places = new Places();
    const path = await makeOriginal(places);
    exportFrom(places, program, path).addTurn("One.");
    await importAll(places);
    const second = exportFrom(places, program === "codex" ? "claude-code" : "codex", path);
    expect((await importAll(places)).map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
    second.addTurn("Two.");
    expect((await importAll(places)).map(({ status }) => status).sort()).toEqual(["grown", "unchanged"]);
    expect(saidAt(path)).toEqual([...ORIGINAL, "One.", "done: One.", "Two.", "done: Two."]);
    expect(places.files().size).toBe(1);
    expect(await countTokens(places)).toBe(100 + 200 + 50 + 50);
  });
});

describe("several continuations of a session", () => {
  test("become its branches, and the leaf stays in the first one", async () => {
    const places = new Places();
    const path = await makeOriginal(places);
    const all = PROGRAMS.map((program) => exportFrom(places, program, path));
    const [first] = all;
    first?.addTurn("First.");
    await importAll(places);
    for (const one of all.slice(1)) one.addTurn("Go on.");
    await importAll(places);
    expect(saidAt(path)).toEqual([...ORIGINAL, "First.", "done: First."]);
    first?.addTurn("Second.");
    expect((await importAll(places)).filter(({ status }) => status === "grown")).toHaveLength(1);
    expect(saidAt(path)).toEqual([...ORIGINAL, "First.", "done: First.", "Second.", "done: Second."]);
    const asked = open(path)
      .getEntries()
      .filter((entry) => getSaid(entry)[0] === "Go on.");
    expect(asked).toHaveLength(PROGRAMS.length - 1);
    expect(places.files().size).toBe(1);
    expect((await importAll(places)).every(({ status }) => status === "unchanged")).toBe(true);
  });

  test("in the same program, from the same entry, stay separate", async () => {
    const places = new Places();
    const path = await makeOriginal(places);
    for (const _ of [1, 2]) exportFrom(places, "codex", path).addTurn("Go on.");
    await importAll(places);
    const before = readFileSync(path, "utf8");
    const said = open(path).getEntries().flatMap(getSaid);
    expect(said.filter((text) => text === "done: Go on.")).toHaveLength(2);
    forget(places);
    expect((await importAll(places)).map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});

test("merge both files of an imported session that continues in its own program", async () => {
  const places = new Places();
  const elsewhere = new Places();
  const older = exportFrom(places, "codex", await makeOriginal(elsewhere));
  const [first] = await importAll(places);
  const path = first?.path ?? "";
  const newer = exportTo(places, "codex", open(path));
  newer.addTurn("Go on.");
  await importAll(places);
  older.addTurn("Go on.");
  expect((await importAll(places)).map(({ status }) => status).sort()).toEqual(["grown", "unchanged"]);
  const said = open(path).getEntries().flatMap(getSaid);
  expect(said.filter((text) => text === "done: Go on.")).toHaveLength(2);
  expect(places.files().size).toBe(1);
  forget(places);
  expect((await importAll(places)).map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
});

test.each(["../outside", "..", "x/../../y", "\0", ""])(
  "ignore an original with the id %j",
  async (sessionId) => {
    const places = new Places();
    const continuation = exportFrom(places, "codex", await makeOriginal(new Places()));
    const payload = { sessionId, leafId: "00000000" };
    continuation.append([{ timestamp: "2026-11-23T12:00:00.000Z", type: "sessiontree", payload }]);
    expect(await importAll(places)).toMatchObject([{ status: "new" }]);
  },
);

test("become another session if the original lacks the exported entry", async () => {
  const places = new Places();
  const path = await makeOriginal(places);
  const session = SessionManager.open(path);
  session.appendMessage(assistant("Later."));
  await session.close();
  const continuation = exportFrom(places, "codex", path);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/.*\n$/, ""));
  continuation.addTurn("More.");
  expect(await importAll(places)).toMatchObject([{ status: "new" }]);
  expect(places.files().size).toBe(2);
});
