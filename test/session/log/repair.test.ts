import { appendFileSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isSessionError, type RepairReport, repairSession, SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { watchedFs } from "../../fault/support/faulty-fs.ts";
import { litter, names, place, sandbox, snapshot } from "../../fault/support/sandbox.ts";
import {
  BRANCHED,
  DAMAGED,
  getIds,
  getTexts,
  header,
  lines,
  message,
  onDisk,
  user,
  VERSION_1,
} from "../../fault/support/sessions.ts";

const FIXTURES = fileURLToPath(new URL("../../../fixtures/", import.meta.url));

const fixtures = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl"))
  .sort();

function codeOf(call: () => unknown): string {
  try {
    call();
    return "no error";
  } catch (error) {
    if (!isSessionError(error)) throw error;
    return error.code;
  }
}

const told = ({ actions }: RepairReport) =>
  actions.map(({ issue, action }) => [issue.line, issue.code, action]);

/** Returns ids, types, and parents of a session, with damaged bodies marked. */
function shape(session: SessionManager): unknown[] {
  return session.getEntries().map(({ id, parentId, type }) => ({ id, parentId, type }));
}

describe("repair", () => {
  test("does nothing to a valid file, and returns an empty list", () => {
    for (const content of [BRANCHED, BRANCHED.trimEnd(), lines(header()), VERSION_1]) {
      const path = place(sandbox(), "s.jsonl", content);
      const before = snapshot(path);
      expect(repairSession(path)).toEqual({ path, actions: [] });
      expect(snapshot(path)).toEqual(before);
      expect(names(dirname(path))).toEqual(["s.jsonl"]);
    }
  });

  test("reports each line it changed, keeps the original, and saves leftovers", () => {
    const path = place(sandbox(), "s.jsonl", DAMAGED);
    const before = onDisk(path);
    const report = repairSession(path);
    expect(told(report).sort()).toEqual([
      [3, "BODY_DAMAGED", "kept as text in a custom entry in its place"],
      [5, "LINE_UNREADABLE", "moved to the side file"],
      [6, "RECORDS_GLUED", "split; incomplete records moved to the side file"],
      [7, "PARENT_MISSING", "rewritten as a root"],
      [8, "TAIL_TORN", "moved to the side file"],
    ]);
    expect(report).toMatchObject({ path, backup: `${path}.bak`, sideFile: `${path}.damaged` });
    expect(readFileSync(`${path}.bak`, "utf8")).toBe(DAMAGED);
    expect(readFileSync(`${path}.damaged`, "utf8")).toMatch(
      /^\n*what is this\n+\{"type":"message","id":"00000010".*"ti\n$/s,
    );
    const after = onDisk(path);
    expect(after.issues).toEqual([]);
    expect(getIds(after)).toEqual(getIds(before));
    expect(getTexts(after.getEntries())).toEqual(getTexts(before.getEntries()));
    expect(readFileSync(path, "utf8")).toContain("0000000b");
    expect(after.getEntry("0000000b")).toMatchObject({ type: "custom", customType: "sessiontree.damaged" });
    expect(repairSession(path).actions).toEqual([]);
  });

  test("changes nothing in a dry run", () => {
    const path = place(sandbox(), "s.jsonl", DAMAGED);
    const before = snapshot(path);
    const report = repairSession(path, { isDryRun: true });
    expect(report.backup).toBeUndefined();
    expect(report.sideFile).toBeUndefined();
    expect(snapshot(path)).toEqual(before);
    expect(names(dirname(path))).toEqual(["s.jsonl"]);
    expect(told(repairSession(path))).toEqual(told(report));
  });

  test("uses other names if files exist", () => {
    const path = place(sandbox(), "s.jsonl", DAMAGED);
    place(dirname(path), "s.jsonl.bak", "mine");
    place(dirname(path), "s.jsonl.damaged", "mine");
    expect(repairSession(path)).toMatchObject({ backup: `${path}.bak.1`, sideFile: `${path}.damaged.1` });
    expect(readFileSync(`${path}.bak`, "utf8")).toBe("mine");
    expect(readFileSync(`${path}.damaged`, "utf8")).toBe("mine");
  });

  test("rebuilds a header from the file's name and the first entry", () => {
    const name = "2026-03-01T11-00-00-000Z_my_own.id-1.jsonl";
    const path = place(
      sandbox(),
      name,
      lines(message("0000000a", null, "a"), message("0000000b", "0000000a", "b")),
    );
    expect(codeOf(() => onDisk(path))).toBe("NOT_A_SESSION");
    const report = repairSession(path);
    expect(report.actions.map(({ issue }) => issue.code)).toContain("HEADER_MISSING");
    expect(onDisk(path).getHeader()).toMatchObject({
      id: "my_own.id-1",
      timestamp: "2026-03-01T12:00:00.000Z",
      version: 3,
    });
    expect(getTexts(onDisk(path).getEntries())).toEqual(["a", "b"]);
  });

  test("rebuilds a header for any file name and any time of the first entry", () => {
    const timeless = { ...message("0000000a", null, "a"), timestamp: 1e300 };
    const path = place(sandbox(), "orphan.jsonl", lines(timeless));
    repairSession(path);
    expect(onDisk(path).getHeader()).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      timestamp: "1970-01-01T00:00:00.000Z",
    });
  });

  test("files without an id in their names receive different ids, which the plan states", () => {
    const folder = sandbox();
    const content = lines(message("0000000a", null, "a"));
    const ids = ["one.jsonl", "two.jsonl"].map((name) => {
      const path = place(folder, name, content);
      const [planned] = repairSession(path, { isDryRun: true }).actions;
      repairSession(path);
      const id = onDisk(path).getHeader()?.id ?? "";
      expect(planned?.action).toBe(`rebuilt from the file's name and its entries, with the id ${id}`);
      return id;
    });
    expect(new Set(ids).size).toBe(2);
  });

  test("rejects a file without entries, a newer version, and a missing file", () => {
    const folder = sandbox();
    const cases = [
      ["prose.jsonl", "hello\n", "NOT_A_SESSION"],
      ["zeros.jsonl", "\0".repeat(100), "NOT_A_SESSION"],
      ["newer.jsonl", lines(header({ version: 4 }), "torn"), "VERSION_TOO_NEW"],
    ] as const;
    for (const [name, content, code] of cases) {
      const path = place(folder, name, content);
      const before = snapshot(path);
      expect(codeOf(() => repairSession(path))).toBe(code);
      expect(snapshot(path)).toEqual(before);
    }
    expect(codeOf(() => repairSession(join(folder, "missing.jsonl")))).toBe("SESSION_NOT_FOUND");
    expect(names(folder)).toEqual(["newer.jsonl", "prose.jsonl", "zeros.jsonl"]);
  });

  test("does not overwrite entries appended in the meantime", () => {
    const path = place(sandbox(), "s.jsonl", DAMAGED);
    let isDone = false;
    const fs = watchedFs((name) => {
      if (name !== "fsyncSync" || isDone) return;
      isDone = true;
      appendFileSync(path, `\n${lines(message("ffffffff", null, "meanwhile"))}`);
    });
    repairSession(path, { fs });
    expect(names(dirname(path))).toEqual(["s.jsonl", "s.jsonl.bak", "s.jsonl.damaged"]);
    expect(getTexts(onDisk(path).getEntries())).toContain("meanwhile");
    expect(onDisk(path).issues.map(({ code }) => code)).toEqual([]);
  });

  test("is detected by a session that has the file open", () => {
    const path = place(sandbox(), "s.jsonl", DAMAGED);
    const session = SessionManager.open(path);
    const before = getIds(session);
    repairSession(path);
    const id = session.appendMessage(user("after"));
    expect(getIds(session)).toEqual([...before, id]);
    expect(getIds(onDisk(path))).toEqual([...before, id]);
    expect(onDisk(path).issues).toEqual([]);
  });
});

describe.each(fixtures)("%s", (name) => {
  test("is repaired to what a reader finds in it, with every byte kept somewhere", () => {
    const folder = sandbox();
    const path = join(folder, basename(name));
    copyFileSync(join(FIXTURES, name), path);
    const original = readFileSync(path);
    let before: SessionManager | undefined;
    try {
      before = onDisk(path);
    } catch (error) {
      expect(isSessionError(error, "NOT_A_SESSION")).toBe(true);
    }
    let report: RepairReport;
    try {
      report = repairSession(path);
    } catch (error) {
      expect(isSessionError(error)).toBe(true);
      expect(readFileSync(path).equals(original)).toBe(true);
      expect(names(folder)).toEqual([basename(name)]);
      return;
    }
    expect(litter(folder)).toEqual([]);
    const after = onDisk(path);
    if (report.actions.length === 0) {
      expect(readFileSync(path).equals(original)).toBe(true);
      return;
    }
    expect(readFileSync(report.backup ?? "").equals(original)).toBe(true);
    // Issues of the conversation, as opposed to the file's lines, remain.
    after.buildSessionContext();
    expect(after.issues.filter(({ code }) => code !== "KEPT_ENTRY_MISSING")).toEqual([]);
    if (before !== undefined) {
      const damaged = new Set(
        before
          .getEntries()
          .filter(({ type }) => String(type) === "damaged")
          .map(({ id }) => id),
      );
      const asCustom = shape(before).map((one) =>
        damaged.has(String(Object(one)["id"])) ? { ...Object(one), type: "custom" } : one,
      );
      expect(shape(after)).toEqual(asCustom);
      expect(after.getLeafId()).toBe(before.getLeafId());
      expect(after.buildSessionContext()).toEqual(before.buildSessionContext());
    }
    expect(repairSession(path).actions).toEqual([]);
    const id = SessionManager.open(path).appendMessage(user("after"));
    expect(onDisk(path).getLeafId()).toBe(id);
    writeFileSync(path, original);
  });
});
