import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { cli, jsonLines, widest } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";
import { folderWithTrash, inTrash } from "./support/trash.ts";

/** Two sessions that were deleted in order. */
async function twoDeleted() {
  const folder = folderWithTrash();
  const paths: string[] = [];
  for (const [id, text] of [
    ["0198aaaa-0000-7000-8000-000000000001", "Fix the totals"],
    ["0198bbbb-0000-7000-8000-000000000002", "Write \u001b[2Ja letter"],
  ] as const) {
    const scribe = new Scribe(folder, id);
    scribe.user(text);
    paths.push(scribe.path);
    expect((await cli(["rm", scribe.path, "--yes"])).code).toBe(0);
  }
  const [first = "", second = ""] = paths;
  return { folder, first, second };
}

describe.runIf(process.platform === "linux")("sessiontree restore", () => {
  test("lists the trash, the last deleted session first", async () => {
    const { first, second } = await twoDeleted();
    const result = await cli(["restore"]);
    expect(result.code).toBe(0);
    expect(result.lines).toHaveLength(4);
    expect(result.stdout).toMatch(/^0198bbbb .* {2}Write ␛\[2Ja letter\n {10}/);
    expect(result.lines[1]?.trim()).toBe(second);
    expect(result.lines[2]).toMatch(/^0198aaaa .* {2}Fix the totals$/);
    expect(result.lines[3]?.trim()).toBe(first);
    expect(widest({ ...result, lines: [result.lines[0] ?? ""] })).toBeLessThanOrEqual(80);
    expect(jsonLines(await cli(["restore", "--json"]))).toMatchObject([
      { id: "0198bbbb-0000-7000-8000-000000000002", path: second, messageCount: 1 },
      { id: "0198aaaa-0000-7000-8000-000000000001", path: first, firstMessage: "Fix the totals" },
    ]);
  });

  test.each([
    ["by the beginning of its id", () => "0198AAAA"],
    ["by its id", () => "0198aaaa-0000-7000-8000-000000000001"],
    ["by the path where it was", (path: string) => path],
    ["by a relative path", (path: string) => basename(path)],
  ])("restores one given %s", async (_how, nameOf) => {
    const { first, second } = await twoDeleted();
    const { code, stdout } = await cli(["restore", nameOf(first)], { cwd: dirname(first) });
    expect([code, stdout]).toEqual([0, `Restored: ${first}\n`]);
    expect(readFileSync(first, "utf8")).toContain("Fix the totals");
    expect([existsSync(second), inTrash().length]).toEqual([false, 1]);
  });

  test("restores the last deleted one as @last, and to another place", async () => {
    const { folder, second } = await twoDeleted();
    const to = join(folder, "letter.jsonl");
    const result = await cli(["restore", "@last", "--to", "letter.jsonl", "--json"], { cwd: folder });
    expect(jsonLines(result)).toMatchObject([{ path: to, id: "0198bbbb-0000-7000-8000-000000000002" }]);
    expect([existsSync(to), existsSync(second)]).toEqual([true, false]);
  });

  test("overwrites nothing", async () => {
    const { first } = await twoDeleted();
    writeFileSync(first, "new");
    const { code, stderr } = await cli(["restore", first]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^sessiontree: .* already exists\. /);
    expect(readFileSync(first, "utf8")).toBe("new");
  });

  test("reports ambiguous and missing names", async () => {
    await twoDeleted();
    expect((await cli(["restore", "0198"])).stderr).toMatch(
      /2 sessions match "0198"\. Specify one by id:\n {2}0198/,
    );
    expect((await cli(["restore", "zzz"])).stderr).toMatch(/The trash contains no session "zzz"\./);
    const empty = folderWithTrash();
    expect((await cli(["restore", "@last", "--dir", empty])).code).toBe(1);
  });

  test("shows only sessions from one folder with --dir", async () => {
    const { folder } = await twoDeleted();
    expect((await cli(["restore", "--dir", folder])).lines).toHaveLength(4);
    expect((await cli(["restore", "--dir", join(folder, "other")])).stdout).toBe(
      "No sessions in the trash.\n",
    );
  });
});
