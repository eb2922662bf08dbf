import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, jsonLines, TERMINAL, temporaryFolder, widest } from "./support/cli.ts";
import { Scribe, userLine, writeLines } from "./support/sessions.ts";

/** Returns the offset of a line in a file, in bytes. */
function offsetOf(path: string, line: number): number {
  return Buffer.byteLength(
    readFileSync(path, "utf8")
      .split("\n")
      .slice(0, line - 1)
      .map((text) => `${text}\n`)
      .join(""),
  );
}

/** Writes a session with a line that is not JSON, one with a damaged body, and a second header. */
function writeDamaged(folder: string): string {
  const damaged = `${JSON.stringify(userLine("00000002", "00000001")).slice(0, -30)}\u0001}`;
  return writeLines(folder, "damaged.jsonl", [
    userLine("00000001", null, "ü".repeat(20)),
    damaged,
    userLine("00000003", "00000002"),
    "no json at all",
    {
      type: "message",
      id: "00000005",
      parentId: "00000003",
      timestamp: "2026-02-03T22:01:00.000Z",
      message: 1,
    },
    { type: "session", version: 3, id: "other", timestamp: "2026-02-03T22:00:00.000Z", cwd: folder },
  ]);
}

test("a healthy file is one line and exit code 0", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("start");
  scribe.assistant("ok");
  const { code, stdout, stderr } = await cli(["verify", scribe.path]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^OK {2}\S+\.jsonl {2}\(2 entries, version 3, \d+ bytes\)\n$/);
});

test("each issue has line, byte offset, code, and message; the exit code is 1", async () => {
  const path = writeDamaged(temporaryFolder());
  const { code, stdout, lines } = await cli(["verify", path]);
  expect(code).toBe(1);
  expect(lines[0]).toMatch(/^4 issues {2}\S+damaged\.jsonl {2}\(4 entries, version 3, /);
  expect(stdout).toContain(`line 3, offset ${offsetOf(path, 3)}, `);
  expect(
    lines.filter((line) => line.startsWith("  line ")).map((line) => line.replace(/, .*: /, " ")),
  ).toEqual([
    "  line 3 BODY_DAMAGED",
    "  line 5 LINE_UNREADABLE",
    "  line 6 BODY_DAMAGED",
    "  line 7 HEADER_REPEATED",
  ]);
  expect(lines[2]).toMatch(/^ {4}The entry's head is legible/);
});

test("--json prints one object per file with all its issues", async () => {
  const folder = temporaryFolder();
  const path = writeDamaged(folder);
  const healthy = writeLines(folder, "healthy.jsonl", [userLine("a", null)]);
  const result = await cli(["verify", path, healthy, join(folder, "missing.jsonl"), "--json"]);
  expect(result.code).toBe(1);
  const [first, second, third] = jsonLines(result);
  const place = { line: 3, offset: offsetOf(path, 3), length: expect.any(Number) };
  expect(first).toMatchObject({
    path,
    ok: false,
    id: "damaged.jsonl",
    version: 3,
    bytes: statSync(path).size,
    entryCount: 4,
  });
  expect(first).toHaveProperty("issues.0", {
    code: "BODY_DAMAGED",
    ...place,
    message: expect.any(String),
    entry: "00000002",
  });
  expect(second).toMatchObject({ path: healthy, ok: true, entryCount: 1, issues: [] });
  expect(third).toMatchObject({
    ok: false,
    error: { code: "SESSION_NOT_FOUND", message: expect.any(String) },
  });
});

test("a file that is not a session is reported, and the others are still checked", async () => {
  const folder = temporaryFolder();
  const wrong = join(folder, "wrong.jsonl");
  writeFileSync(wrong, '{"type":"other"}\n');
  const healthy = writeLines(folder, "healthy.jsonl", []);
  const { code, lines } = await cli(["verify", wrong, folder, healthy]);
  expect(code).toBe(1);
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^ERROR {2}NOT_A_SESSION {2}.*wrong\.jsonl/);
  expect(lines[1]).toMatch(/^ERROR {2}NOT_A_SESSION/);
  expect(lines[2]).toMatch(/^OK/);
});

test("compactions must keep entries of their own path", async () => {
  const compaction = (id: string, parentId: string, more: object) => ({
    ...{ type: "compaction", id, parentId, timestamp: "2026-02-03T22:01:00.000Z" },
    ...{ summary: "before", tokensBefore: 1, ...more },
  });
  const path = writeLines(temporaryFolder(), "compactions.jsonl", [
    userLine("a", null),
    userLine("b", "a"),
    userLine("side", "a"),
    compaction("c1", "b", { firstKeptEntryId: "a" }),
    compaction("c2", "c1", { firstKeptEntryId: "c2" }),
    compaction("c3", "c2", { firstKeptEntryId: "side" }),
    compaction("c4", "c3", { firstKeptEntryId: "nowhere" }),
    compaction("c5", "c4", { retainedTail: [], firstKeptEntryId: null }),
    compaction("c6", "c5", { firstKeptEntryId: "z" }),
    userLine("z", "c6"),
  ]);
  const [verdict] = jsonLines(await cli(["verify", path, "--json"]));
  expect(verdict).toMatchObject({
    issues: ["c3", "c4", "c6"].map((entry) => ({ code: "KEPT_ENTRY_MISSING", entry })),
  });
});

test("reports messages of another SDK, but not minor deviations in a message", async () => {
  const message = (id: string, content: object) => ({ ...userLine(id, null), message: content });
  const path = writeLines(temporaryFolder(), "foreign.jsonl", [
    message("a", { role: "assistant", content: null, tool_calls: [{ id: "c" }] }),
    message("b", { role: "tool", tool_call_id: "c", content: "x" }),
    message("c", { role: "assistant", content: "as a text" }),
    message("d", { role: "note", text: "a host's" }),
  ]);
  expect((await cli(["verify", path])).code).toBe(1);
  const [verdict] = jsonLines(await cli(["verify", path, "--json"]));
  expect(verdict).toMatchObject({
    ok: false,
    issues: [
      { code: "MESSAGE_FOREIGN", entry: "a", message: expect.stringContaining("tool_calls: no field") },
      { code: "MESSAGE_FOREIGN", entry: "b", message: expect.stringContaining('role: "tool"') },
    ],
  });
});

test("--schema warns of differences from the format without a failure", async () => {
  const path = writeLines(temporaryFolder(), "odd.jsonl", [
    userLine("a", null),
    { ...userLine("b", "a"), message: { role: "user", content: 7, timestamp: "soon" }, more: true },
  ]);
  expect((await cli(["verify", path])).lines).toHaveLength(1);
  const { code, stdout } = await cli(["verify", path, "--schema"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`warning: line 3, offset ${offsetOf(path, 3)}, entry b`);
  expect(stdout).toContain("message.content: ");
  expect(jsonLines(await cli(["verify", path, "--schema", "--json"]))[0]).toMatchObject({
    ok: true,
    warnings: [
      { line: 3, entry: "b", problems: expect.arrayContaining([expect.stringContaining("timestamp")]) },
    ],
  });
});

test("an empty file has no id, no version, and no bytes", async () => {
  const path = join(temporaryFolder(), "empty.jsonl");
  writeFileSync(path, "");
  const { code, stdout } = await cli(["verify", path]);
  expect([code, stdout]).toEqual([0, `OK  ${path}  (empty, 0 bytes)\n`]);
  const [verdict] = jsonLines(await cli(["verify", path, "--json"]));
  expect(verdict).toEqual({ path, ok: true, bytes: 0, entryCount: 0, issues: [] });
  const shown = await cli(["show", path]);
  expect(shown.lines).toContain("size      0 bytes, empty");
  expect(shown.stdout).not.toMatch(/^(?:id|created|project) /m);
  const [facts] = jsonLines(await cli(["show", path, "--json"]));
  expect(facts).not.toHaveProperty("id");
  expect(facts).toMatchObject({ bytes: 0, entryCount: 0 });
  for (const name of ["tree", "context", "stats"]) expect((await cli([name, path])).code).toBe(0);
  expect((await cli(["search", "word", path])).stderr).toBe(
    `sessiontree: ${path} is empty. The first append makes it a session.\n`,
  );
  for (const more of [[], ["--full"]])
    expect(await cli(["export", path, "--jsonl", ...more])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "sessiontree: empty.jsonl is empty. The first append makes it a session.\n",
    });
  expect(statSync(path).size).toBe(0);
});

test("equal issues are written once, with their number and lines", async () => {
  const anonymous = { ...userLine("a", null), id: undefined };
  const folder = temporaryFolder();
  const many = writeLines(
    folder,
    "many.jsonl",
    Array.from({ length: 15 }, () => anonymous),
  );
  const { lines } = await cli(["verify", many]);
  expect(lines[0]).toMatch(/^15 issues {2}/);
  expect(lines.slice(1)).toEqual([
    `  15 times, lines 2 to 16, from offset ${offsetOf(many, 2)}: ID_INVENTED`,
    "    The entry has no id; an id was derived from its position.",
  ]);
  const known = (id: string) => userLine(id, null);
  const some = writeLines(folder, "some.jsonl", [
    ...[anonymous, known("a"), anonymous, known("b"), anonymous, anonymous],
    ...[known("c"), anonymous, anonymous],
  ]);
  const [, places] = (await cli(["verify", some])).lines;
  expect(places).toBe(
    `  6 times, lines 2, 4, 6, 7, 9 and 1 more, from offset ${offsetOf(some, 2)}: ID_INVENTED`,
  );
  const planned = (await cli(["repair", many, "--dry-run"])).lines;
  expect(planned.filter((line) => line.includes("ID_INVENTED"))).toHaveLength(1);
  expect(planned.filter((line) => line.includes("→"))).toEqual(["    → written down"]);
});

test("--dir checks all sessions in the folder; --all counts as damaged what totals count", async () => {
  const folder = temporaryFolder();
  writeDamaged(folder);
  writeLines(folder, "linked.jsonl", [userLine("a", "nowhere")]);
  writeFileSync(join(folder, "wrong.jsonl"), '{"type":"other"}\n');
  writeLines(folder, "healthy.jsonl", [userLine("a", null)]);
  const damaged = '1 damaged file; "sessiontree verify --all" lists them.';
  expect((await cli(["stats", "--all", "--dir", folder])).stderr).toContain(damaged);
  for (const more of [[], ["--all"]]) {
    const { code, stderr, lines } = await cli(["verify", "--dir", folder, ...more]);
    expect(code).toBe(1);
    expect(stderr).toBe("4 files: 1 damaged, 1 with other issues, 1 not readable as sessions.\n");
    expect(lines.filter((line) => line.endsWith(", damaged)"))).toEqual([
      expect.stringMatching(/^4 issues {2}\S+damaged\.jsonl/),
    ]);
  }
  const healthy = join(folder, "healthy.jsonl");
  expect((await cli(["verify", healthy, "--dir", folder])).lines).toHaveLength(1);
});

test("without arguments, says that only the latest session was checked", async () => {
  const folder = temporaryFolder();
  writeLines(folder, "one.jsonl", [userLine("a", null)]);
  const { code, lines, stderr } = await cli(["verify"], {
    cwd: folder,
    env: { PI_CODING_AGENT_SESSION_DIR: folder },
  });
  expect([code, lines.length]).toEqual([0, 1]);
  expect(stderr).toBe(
    "Only the latest session of this project was checked; verify --all checks all sessions.\n",
  );
});

test("a checked file stays unchanged", async () => {
  const folder = temporaryFolder();
  const path = writeDamaged(folder);
  writeFileSync(path, `${readFileSync(path, "utf8")}{"type":"mess`);
  const before = [readFileSync(path, "utf8"), statSync(path).mtimeMs];
  for (const name of ["verify", "tree", "show", "context"]) await cli([name, path]);
  expect([readFileSync(path, "utf8"), statSync(path).mtimeMs]).toEqual(before);
});

test("issues fit 80 columns and cannot control the terminal", async () => {
  const lines = [userLine("a", "\u001b[2J\u009b".repeat(50)), userLine("a", "日本".repeat(99))];
  const result = await cli(["verify", writeLines(temporaryFolder(), "evil.jsonl", lines)], TERMINAL);
  expect(result.code).toBe(1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them is allowed
  expect(result.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(widest({ ...result, lines: result.lines.slice(1) })).toBeLessThanOrEqual(80);
});

test("an oh-my-pi image missing next to the sessions is an issue, and an existing one is not", async () => {
  const folder = temporaryFolder();
  const sessions = join(folder, "sessions");
  mkdirSync(join(folder, "blobs"));
  mkdirSync(sessions);
  const bytes = Buffer.from("an image");
  const there = createHash("sha256").update(bytes).digest("hex");
  writeFileSync(join(folder, "blobs", there), bytes);
  const missing = "0".repeat(64);
  // A name that points elsewhere is not looked up.
  const names = [there, missing, "../blobs"];
  const content = names.map((name) => ({
    type: "image",
    data: `blob:sha256:${name}`,
    mimeType: "image/png",
  }));
  const path = writeLines(sessions, "omp.jsonl", [
    {
      type: "message",
      id: "a",
      parentId: null,
      timestamp: "2026-01-01T00:00:00.000Z",
      message: { role: "user", content, timestamp: 0 },
    },
  ]);
  const done = await cli(["verify", path, "--json"]);
  expect(done.code).toBe(1);
  expect(jsonLines(done)).toMatchObject([
    {
      issues: [
        { code: "IMAGE_MISSING", entry: "a", message: expect.stringContaining(missing) },
        { code: "IMAGE_MISSING", entry: "a" },
      ],
    },
  ]);
});
