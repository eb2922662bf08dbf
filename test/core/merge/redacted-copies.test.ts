import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "sessiontree";
import { mergeSessions } from "sessiontree/catalog";
import { describe, expect, test } from "vitest";
import { REDACTION_CUSTOM_TYPE } from "../../../src/core/format/redaction.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { joinFile, merged, said } from "./support/lines.ts";

const SECRET = "hunter2";
const root = said("00000001", null, 1);
const open = said("00000002", "00000001", 2, `the key is ${SECRET}, the door is red`);
const after = said("00000003", "00000002", 3);

function record(id: string, data: object) {
  return {
    type: "custom",
    id,
    parentId: "00000003",
    timestamp: "2026-02-03T22:09:00.000Z",
    customType: REDACTION_CUSTOM_TYPE,
    data,
  };
}

const unredacted = joinFile(root, open, after, said("0000000a", "00000003", 4, "went on"));
const whole = joinFile(
  root,
  said("00000002", "00000001", 2, "[redacted]"),
  after,
  record("0000000b", { targetId: "00000002" }),
);
const partly = joinFile(
  root,
  said("00000002", "00000001", 2, "the key is [gone], the door is red"),
  after,
  record("0000000c", { targetIds: ["00000002"] }),
);
const otherwise = joinFile(
  root,
  said("00000002", "00000001", 2, `the key is ${SECRET}, the door is [gone]`),
  after,
  record("0000000d", { targetIds: ["00000002"] }),
);

function contentOf(text: string, id: string): unknown {
  return SessionManager.inMemory(
    "/projects/a",
    {},
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
  )
    .getEntries()
    .flatMap((entry) =>
      entry.id === id && entry.type === "message" ? [Object(entry.message).content] : [],
    )[0];
}

describe("entries that one copy has redacted", () => {
  test.each([
    ["whole", whole, "[redacted]"],
    ["in part", partly, "the key is [gone], the door is red"],
  ])("%s is not restored from the other, in either order", (_, redacted, content) => {
    for (const [a, b] of [
      [unredacted, redacted],
      [redacted, unredacted],
    ] as const) {
      const { text, report, issues } = merged(a, b);
      expect(text).not.toContain(SECRET);
      expect(contentOf(text, "00000002")).toBe(content);
      expect(report).toMatchObject({ entries: 5, conflicts: [] });
      expect(issues).toEqual([]);
      expect(contentOf(text, "0000000a")).toBe("went on");
      for (const again of [a, b, text]) expect(merged(text, again).text).toBe(text);
    }
    expect(merged(unredacted, redacted).text).toBe(merged(redacted, unredacted).text);
  });

  test("entirely take precedence over those redacted in part, and of two parts only the common text is kept", () => {
    for (const [a, b] of [
      [partly, whole],
      [whole, partly],
      [otherwise, whole],
    ] as const)
      expect(contentOf(merged(a, b).text, "00000002")).toBe("[redacted]");
    const { text } = merged(partly, otherwise);
    expect(text).toBe(merged(otherwise, partly).text);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain("the door is red");
  });

  test("merge to the same in either order", () => {
    const all = [unredacted, whole, partly, otherwise];
    const results = new Set<string>();
    for (const a of all)
      for (const b of all)
        for (const c of all) {
          if (new Set([a, b, c]).size < 3) continue;
          const { text } = merged(merged(a, b).text, c);
          expect(text).not.toContain(SECRET);
          expect(merged(a, merged(b, c).text).text).toBe(text);
          results.add(
            [a, b, c]
              .map((one) => all.indexOf(one))
              .sort()
              .join() + text,
          );
        }
    expect(results.size).toBe(4);
  });

  test("are redacted, too, if only the redaction record is left", () => {
    const { text } = merged(
      unredacted,
      joinFile(root, { ...record("0000000b", { targetIds: ["00000002"] }), parentId: "00000001" }),
    );
    expect(text).not.toContain(SECRET);
    expect(
      merged(
        joinFile(root, { ...record("0000000b", { targetId: "00000002" }), parentId: "00000001" }),
        unredacted,
      ).text,
    ).not.toContain(SECRET);
  });

  test("are not restored in the entry of a conflict, whose id stays", () => {
    const [a, b] = [
      joinFile(root, said("00000002", "00000001", 2, "one")),
      joinFile(root, said("00000002", "00000001", 3, SECRET)),
    ];
    const both = merged(a, b);
    const invented = both.report.conflicts[0]?.entries[1]?.id ?? "";
    const session = SessionManager.open(fileAt(both.text));
    session.redactEntry(invented);
    const redacted = readFileSync(session.getSessionFile() ?? "", "utf8");
    expect(redacted).not.toContain(SECRET);
    for (const text of [
      merged(redacted, b).text,
      merged(b, redacted).text,
      merged(redacted, both.text).text,
    ]) {
      expect(text).toBe(redacted);
    }
  });

  test("are not restored in files, in place", () => {
    const [a, b] = [fileAt(unredacted), fileAt(whole)];
    mergeSessions(a, b, { inPlace: true });
    expect(readFileSync(a, "utf8")).not.toContain(SECRET);
  });
});

function fileAt(text: string): string {
  const path = join(temporaryFolder(), "session.jsonl");
  writeFileSync(path, text);
  return path;
}

describe("backups after a merge that redacts", () => {
  function files(...texts: readonly string[]): string[] {
    const folder = temporaryFolder();
    return texts.map((text, at) => {
      const path = join(folder, `${at}.jsonl`);
      writeFileSync(path, text);
      return path;
    });
  }

  test.each([
    ["what the other copy redacted whole", unredacted, whole],
    ["what the other copy redacted in part", unredacted, partly],
    ["what the other copy redacted further", partly, whole],
    ["what both redacted, each otherwise", partly, otherwise],
  ])("in place, no backup keeps %s", (_, mine, theirs) => {
    const [a = "", b = ""] = files(mine, theirs);
    const result = mergeSessions(a, b, { inPlace: true });
    expect(result).not.toHaveProperty("backup");
    expect(result.unredacted.a).toEqual(["00000002"]);
    expect(existsSync(`${a}.bak`)).toBe(false);
    expect(readFileSync(a, "utf8")).not.toContain(mine === unredacted ? SECRET : "door is red");
  });

  test("a backup is kept if the first copy holds no redacted text", () => {
    const more = `${whole}${JSON.stringify(said("0000000f", "00000003", 9))}\n`;
    for (const [mine, theirs, b] of [
      [whole, unredacted, ["00000002"]],
      [partly, `${partly}${more.split("\n").at(-2)}\n`, []],
    ] as const) {
      const [path = "", other = ""] = files(mine, theirs);
      const result = mergeSessions(path, other, { inPlace: true });
      expect(result).toMatchObject({ backup: `${path}.bak`, unredacted: { a: [], b } });
      expect(readFileSync(`${path}.bak`, "utf8")).toBe(mine);
    }
  });
});
