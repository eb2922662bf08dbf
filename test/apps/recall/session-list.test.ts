import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeHandoff } from "../../../src/apps/recall/session-overview.ts";
import { makeFileSource, makeStoreSource } from "../../../src/apps/recall/session-source.ts";
import { Scribe, writeLines } from "../cli/support/sessions.ts";
import { ask, copyToStore, ID, project, recallOver } from "./support/past.ts";

const NEXT_DAY_MS = Date.parse("2026-02-05T12:00:00.000Z");

/** A project with a session of one day, and one of two days later whose last result is a failure. */
async function twoDays(kind: string) {
  const past = project();
  const later = new Scribe(past.sessions, ID(2), past.folder, undefined, NEXT_DAY_MS);
  later.user("Print the receipts.");
  later.call("bash", { command: "lpr receipts.txt" }, "p1");
  const failed = later.result("lpr: no printer found", true, "p1");
  const source =
    kind === "files"
      ? makeFileSource({ sessionDir: past.sessions })
      : makeStoreSource(await copyToStore(past.scribe.path, later.path));
  return { ...past, later, failed, recall: recallOver(source, past.folder) };
}

describe.each(["files", "store"])("an empty query, in %s", (kind) => {
  test("lists sessions, latest first, with their times and how they ended", async () => {
    const { recall, answered, failed } = await twoDays(kind);
    const { text } = await ask(recall, "search_sessions", { query: "", latest: true });
    const [, , ...lines] = text.split("\n");
    expect(lines).toEqual([
      expect.stringMatching(`^session ${ID(2)} · Print the receipts\\. · 2026-02-05 12:0\\dZ$`),
      expect.stringMatching(
        `^ {2}2026-02-05 12:02Z to 2026-02-05 12:04Z · 3 messages · last entry ${failed} · tool result: .*no printer found`,
      ),
      expect.stringMatching(
        `^session ${ID(1)} · Why do the totals of receipts fail\\? · 2026-02-03 22:1\\dZ$`,
      ),
      expect.stringMatching(
        `^ {2}2026-02-03 22:02Z to 2026-02-03 22:14Z · 13 messages · last entry ${answered} · assistant: Fixed: round each line of the receipt\\.$`,
      ),
      "</past-sessions>",
    ]);
  });

  test("lists those with messages between two times, in their state at the time", async () => {
    const { recall, asked } = await twoDays(kind);
    const day = (since: string, until: string) =>
      ask(recall, "search_sessions", { query: " ", since, until });
    const { text: first } = await day("2026-02-03T20:00Z", "2026-02-04T20:00Z");
    expect(first).toContain(ID(1));
    expect(first).not.toContain(ID(2));
    const { text: none } = await day("2026-02-04T08:00Z", "2026-02-05T08:00Z");
    expect(none).toBe('No sessions. Try an earlier since, or {"all": true} for other projects.');
    const { text: begun } = await day("2026-02-03T20:00Z", "2026-02-03T22:02:30Z");
    expect(begun).toContain(`· 1 message · last entry ${asked} · user: Why do the totals of receipts fail?`);
  });

  test("shows the last messages of requested roles", async () => {
    const { recall, later, sessions: folder, folder: cwd } = await twoDays(kind);
    const { text } = await ask(recall, "search_sessions", { roles: ["user"] });
    expect(text).toContain("user: Print the receipts.");
    expect(text).toContain("user: Why do the totals of receipts fail?");
    const { text: commands } = await ask(recall, "search_sessions", { roles: "bashExecution" });
    expect(commands).toContain("No sessions.");
    later.call("mcp__sessiontree__search_sessions", { query: "printers" });
    const source =
      kind === "files"
        ? makeFileSource({ sessionDir: folder })
        : makeStoreSource(await copyToStore(later.path));
    const again = recallOver(source, cwd);
    const { text: answers } = await ask(again, "search_sessions", { roles: ["assistant"], limit: 1 });
    expect(answers).toContain("assistant: → bash lpr receipts.txt");
  });

  test("continues at its cursor", async () => {
    const { recall } = await twoDays(kind);
    const { text: first } = await ask(recall, "search_sessions", { latest: true, limit: 1 });
    expect(first).toContain('There are more sessions. To continue: {"cursor": 1}');
    const { text: rest } = await ask(recall, "search_sessions", { latest: true, limit: 1, cursor: 1 });
    expect([
      first.includes(ID(2)),
      first.includes(ID(1)),
      rest.includes(ID(2)),
      rest.includes(ID(1)),
    ]).toEqual([true, false, false, true]);
    expect(rest).not.toContain("To continue");
  });

  test("leaves the search of failures, tools, and paths unchanged", async () => {
    const { recall, failed } = await twoDays(kind);
    const { text } = await ask(recall, "search_sessions", { query: "", failed: true, latest: true });
    expect(text).toContain(`entry ${failed} · tool result · bash · 2026-02-05 12:04Z: `);
  });
});

/** Lines of an imported session, of a subagent if it is given. */
function importedLines(
  text: string,
  { agentId, timestamp = "2026-02-03T22:00:00.000Z" }: { agentId?: string; timestamp?: string } = {},
): object[] {
  const entry = (id: string, parentId: string | null, fields: object) => ({
    id,
    parentId,
    timestamp,
    ...fields,
  });
  const data = { source: "claude-code", sourceId: "x" };
  return [
    entry("i1", null, { type: "custom", customType: "sessiontree.import", data }),
    ...(agentId === undefined
      ? []
      : [entry("i2", "i1", { type: "custom", customType: "sessiontree.subagent", data: { agentId } })]),
    entry("i3", agentId === undefined ? "i1" : "i2", {
      type: "message",
      message: { role: "user", content: text, timestamp: Date.parse(timestamp) },
    }),
  ];
}

test("a list omits the running session, subagents' sessions, and other sources", async () => {
  const { sessions, folder } = await twoDays("files");
  writeLines(sessions, "main.jsonl", importedLines("Water the tulips."));
  writeLines(sessions, "agent.jsonl", importedLines("Find the tulips.", { agentId: "a7" }));
  const before = "2026-02-03T21:00:00.000Z";
  writeLines(sessions, "fork.jsonl", importedLines("Sell the tulips.", { timestamp: before }));
  const env = { CLAUDE_CODE_SESSION_ID: ID(2) };
  const recall = recallOver(makeFileSource({ sessionDir: sessions }), folder, { env, project: undefined });
  const { text } = await ask(recall, "search_sessions", { latest: true });
  expect(text).toContain("Water the tulips.");
  expect(text).toContain("Sell the tulips.");
  expect(text).not.toMatch(/Find the tulips|Print the receipts/);
  expect(text).toContain(`Left out: the running session ${ID(2)}`);
  const { text: imported } = await ask(recall, "search_sessions", { latest: true, source: "claude-code" });
  expect(imported).toContain("Water the tulips.");
  expect(imported).not.toMatch(/Why do the totals|Sell the tulips/);
});

describe("a handoff without a name", () => {
  test("is that of the latest session, even of a cleared one", async () => {
    const { sessions, folder } = await twoDays("files");
    const header = { type: "session", version: 3, timestamp: "2026-02-06T12:00:00.000Z", cwd: folder };
    writeFileSync(join(sessions, "empty.jsonl"), `${JSON.stringify({ ...header, id: "empty" })}\n`);
    const agent = importedLines("Find the tulips.", { agentId: "a7", timestamp: header.timestamp });
    const lines = [{ ...header, id: "agent" }, ...agent].map((line) => JSON.stringify(line));
    writeFileSync(join(sessions, "agent.jsonl"), `${lines.join("\n")}\n`);
    const env = { CLAUDE_CODE_SESSION_ID: ID(2) };
    const recall = recallOver(makeFileSource({ sessionDir: sessions }), folder, { env });
    expect(await writeHandoff(recall, undefined)).toContain("Print the receipts.");
    const own = recall.during({ caller: [ID(2)] });
    expect(await writeHandoff(own, undefined)).toContain("Why do the totals of receipts fail?");
    const running = recallOver(makeFileSource({ sessionDir: sessions }), folder, {
      now: () => NEXT_DAY_MS + 5 * 60_000,
    });
    expect(await writeHandoff(running, undefined)).toContain("Why do the totals of receipts fail?");
  });

  test("reports that there is none", async () => {
    const { sessions, folder } = project();
    const recall = recallOver(makeFileSource({ sessionDir: sessions }), folder, { project: "/elsewhere" });
    await expect(writeHandoff(recall, undefined)).rejects.toThrow("The project has no past session.");
  });
});
