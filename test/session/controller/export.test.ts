import * as nodeFs from "node:fs";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { readSession, SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { assistant, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { seenByModel, stage, talk } from "./support/stage.ts";

/** Creates a session with two branches, the second with a label in its chain; the leaf is on the second. */
function branched(session: SessionManager): string[] {
  const [first = "", answer = ""] = talk(session, 2);
  session.branch(answer);
  session.appendLabelChange(first, "start");
  const other = session.appendMessage(user("other"));
  const otherAnswer = session.appendMessage(assistant("other answer"));
  return [first, answer, other, otherAnswer];
}

describe("exportJsonl", () => {
  test("writes the active branch, re-chained, as a session of version 3", async () => {
    const { session, controller } = stage();
    const path = branched(session);
    const file = join(temporaryFolder(), "out", "branch.jsonl");
    expect(controller.exportJsonl(file)).toBe(file);
    const { header, entries, issues } = readSession(readFileSync(file));
    expect(issues).toEqual([]);
    expect(header).toEqual(session.getHeader());
    expect(header).toMatchObject({ version: 3 });
    expect(entries.map(({ id }) => id).slice(0, 4)).toEqual(path);
    expect(entries.map(({ parentId }) => parentId)).toEqual([
      null,
      ...entries.slice(0, -1).map(({ id }) => id),
    ]);
    expect(entries.at(-1)).toMatchObject({ type: "label", targetId: path[0], label: "start" });
    const copy = SessionManager.open(file);
    expect(seenByModel(copy)).toEqual(seenByModel(session));
    expect(copy.getLabel(path[0] ?? "")).toBe("start");
  });

  test("has mode 0600", () => {
    const { session, controller } = stage();
    branched(session);
    const file = controller.exportJsonl(join(temporaryFolder(), "branch.jsonl"));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("keeps the effects of compactions and edits on the context", async () => {
    const { session, controller } = stage();
    const ids = talk(session, 4);
    await controller.compact();
    session.appendContextEdit(ids[7] ?? "", { content: "edited" });
    const copy = SessionManager.open(controller.exportJsonl(join(temporaryFolder(), "branch.jsonl")));
    expect(seenByModel(copy)).toEqual(seenByModel(session));
    expect(copy.getPathIds()).toEqual(session.getPathIds());
  });

  test("does not change the session, and calls no hooks", () => {
    const { session, controller, seen } = stage();
    branched(session);
    const leafId = session.getLeafId();
    controller.exportJsonl(join(temporaryFolder(), "branch.jsonl"));
    expect(controller.session).toBe(session);
    expect(session.getLeafId()).toBe(leafId);
    expect(seen).toEqual([]);
  });

  test("never overwrites a file, especially not the session itself", () => {
    const folder = temporaryFolder();
    const session = SessionManager.create(folder, folder);
    const { controller } = stage({ session });
    branched(session);
    const own = session.getSessionFile() ?? "";
    const before = readFileSync(own);
    const note = join(folder, "note.txt");
    writeFileSync(note, "mine");
    for (const path of [own, note, relative(process.cwd(), note), folder]) {
      expect(() => controller.exportJsonl(path)).toThrow(expect.objectContaining({ code: "SESSION_EXISTS" }));
    }
    expect(readFileSync(own)).toEqual(before);
    expect(readFileSync(note, "utf8")).toBe("mine");
  });

  test("reports a path that cannot be written, and leaves no file", () => {
    const folder = temporaryFolder();
    const openSync: typeof nodeFs.openSync = (path, ...rest) => {
      if (String(path).endsWith(".tmp")) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      return nodeFs.openSync(path, ...rest);
    };
    const session = SessionManager.create(folder, { sessionDir: folder, fs: { ...nodeFs, openSync } });
    const { controller } = stage({ session });
    branched(session);
    const files = nodeFs.readdirSync(folder);
    expect(() => controller.exportJsonl(join(folder, "branch.jsonl"))).toThrow(
      expect.objectContaining({ code: "WRITE_FAILED" }),
    );
    expect(nodeFs.readdirSync(folder)).toEqual(files);
  });

  test("before the first entry writes only a header", () => {
    const { controller } = stage();
    const file = controller.exportJsonl(join(temporaryFolder(), "empty.jsonl"));
    expect(readSession(readFileSync(file))).toMatchObject({ entries: [], issues: [] });
  });
});
