import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { repairSession, SessionManager } from "sessiontree";
import { detectSource } from "sessiontree/import";
import { describe, expect, test } from "vitest";
import { FOREIGN_FILES } from "../../support/foreign-files.ts";
import { user } from "../../support/messages.ts";
import { moveOver } from "../../support/move-over.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const CLAUDE = FOREIGN_FILES[0]?.[2] ?? "";

const lines = (...records: readonly unknown[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

const entry = (id: string, parentId: string | null, message: object) => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-02-03T22:00:00.000Z",
  message,
});

function place(text: string): string {
  const path = join(temporaryFolder(), "file.jsonl");
  writeFileSync(path, text);
  return path;
}

const notASession = (details: object) =>
  expect.objectContaining({ code: "NOT_A_SESSION", details: expect.objectContaining(details) });

describe("a session that lost its header is repaired", () => {
  test.each([
    ["and its output quotes a transcript", [CLAUDE.split("\n")[1] ?? "", CLAUDE]],
    ["whatever its damaged lines hold", [`{"uuid":"x","sessionId":"y","message":`]],
  ])("%s", (_what, quoted) => {
    const damaged = `{"type":"session","version":3,"id":"a\n`;
    const outputs = quoted.map((text, i) =>
      entry(`0000000${i + 2}`, `0000000${i + 1}`, {
        role: "toolResult",
        toolCallId: "c",
        toolName: "read",
        content: [{ type: "text", text }],
        isError: false,
        timestamp: 1,
      }),
    );
    const path = place(damaged + lines(entry("00000001", null, user("Read it")), ...outputs));
    expect(() => SessionManager.open(path)).toThrow(notASession({ path }));
    repairSession(path);
    expect(SessionManager.open(path, { mode: "read-only" }).getEntryCount()).toBe(outputs.length + 1);
  });

  test("and a record of another program is next to its entries", () => {
    const path = place(`${CLAUDE.split("\n")[1]}\n${lines(entry("00000001", null, user("a")))}`);
    repairSession(path);
    expect(
      SessionManager.open(path, { mode: "read-only" })
        .getEntries()
        .map(({ id }) => id),
    ).toContain("00000001");
  });
});

test.each(FOREIGN_FILES.filter(([, source]) => source === "pi-v4"))(
  "%s (%s) with all records on one line, without the header, is not changed",
  (_what, source, text) => {
    const glued = text.split("\n").slice(1).join("").repeat(2);
    const path = place(glued);
    for (const call of [() => SessionManager.open(path), () => repairSession(path)])
      expect(call).toThrow(notASession({ path, source }));
    expect(readFileSync(path, "utf8")).toBe(glued);
    expect(readdirSync(join(path, ".."))).toEqual(["file.jsonl"]);
  },
);

test("a file with entries of no known type is not rebuilt as a session", () => {
  const path = place(
    lines(
      { type: "turn_begin", id: "1", parentId: null, timestamp: "2026-02-03T22:00:00.000Z", text: "Hello" },
      { type: "turn_end", id: "2", parentId: "1", timestamp: "2026-02-03T22:00:00.000Z" },
    ),
  );
  const before = readFileSync(path);
  expect(() => repairSession(path)).toThrow(notASession({ path }));
  expect(readFileSync(path)).toEqual(before);
  expect(readdirSync(join(path, ".."))).toEqual(["file.jsonl"]);
});

test("another program's file at the path of an open session is named, and not written to", () => {
  const path = place("");
  const session = SessionManager.open(path);
  session.appendMessage(user("ours"));
  const other = `${path}.other`;
  writeFileSync(other, CLAUDE);
  moveOver(other, path);
  expect(() => session.appendMessage(user("more"))).toThrow(notASession({ path, source: "claude-code" }));
  expect(readFileSync(path, "utf8")).toBe(CLAUDE);
});

test("a file named as a transcript is imported, however late its decisive records are", () => {
  const notes = lines(...Array(60).fill({ type: "file-history-snapshot", messageId: "u1", snapshot: {} }));
  const path = place(notes + CLAUDE);
  expect(() => SessionManager.open(path)).toThrow(notASession({ source: "claude-code" }));
  expect(detectSource(notes + CLAUDE)).toBe("claude-code");
});

const CORPORA = ["corpus-other-agents", "corpus-pi-v4"]
  .map((name) => fileURLToPath(new URL(`../../../../shared/${name}`, import.meta.url)))
  .filter((folder) => existsSync(folder));

describe.runIf(CORPORA.length > 0)("files of other programs", () => {
  const paths = CORPORA.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => join(folder, name))
      .filter((path) => /\.jsonl?$/.test(path) && basename(path) !== "truth.json" && statSync(path).isFile()),
  );

  test("are not changed", () => {
    const copies = temporaryFolder();
    for (const [i, path] of paths.entries()) {
      const bytes = readFileSync(path);
      if (/^(?:pi|oh-my-pi)$/.test(detectSource(bytes.toString()) ?? "")) continue;
      const copy = join(copies, `${i}.jsonl`);
      writeFileSync(copy, bytes);
      const { mtimeMs } = statSync(copy);
      const source = detectSource(bytes.toString());
      const refusal = notASession({ path: copy, ...(source !== undefined && { source }) });
      expect(() => SessionManager.open(copy), path).toThrow(refusal);
      expect(() => repairSession(copy, { isDryRun: true }), path).toThrow(refusal);
      expect(() => repairSession(copy), path).toThrow(refusal);
      expect(readFileSync(copy).equals(bytes), path).toBe(true);
      expect(statSync(copy).mtimeMs).toBe(mtimeMs);
      expect(readdirSync(copies).sort()).toContain(`${i}.jsonl`);
    }
    expect(readdirSync(copies).filter((name) => !/^\d+\.jsonl$/.test(name))).toEqual([]);
  });
});
