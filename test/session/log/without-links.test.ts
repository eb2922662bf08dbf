import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { repairSession, SessionManager } from "sessiontree";
import { deleteSession, mergeSessions } from "sessiontree/catalog";
import { describe, expect, onTestFinished, test } from "vitest";
import { litter, names, place, sandbox } from "../../fault/support/sandbox.ts";
import {
  BRANCHED,
  DAMAGED,
  getTexts,
  header,
  lines,
  message,
  onDisk,
  user,
  VERSION_1,
} from "../../fault/support/sessions.ts";
import { failing } from "../../support/failing-calls.ts";

/** Errors with which file systems refuse hard links: USB disks, Android's storage, network mounts, Windows. */
const REFUSALS = ["EPERM", "EACCES", "EIO", "EISDIR", "ENOTSUP"];

describe.each(REFUSALS)("when links are refused with %s", (code) => {
  function placed(content: string): string {
    onTestFinished(failing("linkSync", Object.assign(new Error(`${code}: refused, link`), { code })));
    return place(sandbox(), "s.jsonl", content);
  }

  test("a lease is held, denied to others, and released", async () => {
    const path = placed(BRANCHED);
    const owner = SessionManager.open(path, { lease: "fail" });
    expect(() => SessionManager.open(path, { lease: "fail" })).toThrow(
      expect.objectContaining({ code: "LEASE_HELD", details: expect.objectContaining({ pid: process.pid }) }),
    );
    await owner.close();
    await SessionManager.open(path, { lease: "fail" }).close();
    expect(names(dirname(path))).toEqual(["s.jsonl"]);
  });

  test("a text is redacted while another session holds the file open", () => {
    const path = placed(BRANCHED);
    const other = SessionManager.open(path);
    other.appendMessage(user("by another"));
    SessionManager.open(path).redactEntry("00000002");
    other.appendMessage(user("later"));
    expect(readFileSync(path, "utf8")).not.toContain("first question");
    expect(getTexts(onDisk(path).getEntries()).slice(-2)).toEqual(["by another", "later"]);
    expect(litter(dirname(path))).toEqual([]);
  });

  test("a session is upgraded, repaired, merged in place, forked, and deleted", async () => {
    const old = placed(VERSION_1);
    SessionManager.open(old).appendMessage(user("next"));
    expect(readFileSync(`${old}.v1.bak`, "utf8")).toBe(VERSION_1);
    expect(getTexts(onDisk(old).getEntries())).toEqual(["first", "second", "third", "next"]);

    const path = place(sandbox(), "s.jsonl", DAMAGED);
    expect(repairSession(path)).toMatchObject({ backup: `${path}.bak` });
    expect(readFileSync(`${path}.bak`, "utf8")).toBe(DAMAGED);
    const copy = place(dirname(path), "copy", lines(header(), message("000000cc", null, "only in the copy")));
    mergeSessions(path, copy, { inPlace: true });
    expect(getTexts(onDisk(path).getEntries())).toContain("only in the copy");

    const fork = SessionManager.forkFrom(path, "/other", { sessionDir: join(dirname(path), "forks") });
    expect(fork.issues).toEqual([]);
    await deleteSession(path, { permanent: true });
    expect(existsSync(path)).toBe(false);
    expect(litter(dirname(path))).toEqual([]);
  });
});
