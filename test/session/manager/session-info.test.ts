import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { iterateSessions } from "../../../src/catalog/list/list-sessions.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { Chain, header, joinLines, put } from "../../catalog/support/sessions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Lists a folder with one session in it. */
async function infoOf(content: string) {
  const folder = temporaryFolder();
  const path = put(join(folder, "a.jsonl"), content);
  const [info, ...others] = await SessionManager.listAll(folder);
  if (info === undefined || others.length > 0) throw new Error("There is not exactly one.");
  return { folder, path, info };
}

describe("a session in pi's shape", () => {
  test("has the placeholder without text, which no other list has", async () => {
    const { folder, info } = await infoOf(joinLines([header()]));
    expect(info).toMatchObject({ firstMessage: "(no messages)", messageCount: 0, allMessagesText: "" });
    for await (const row of iterateSessions({ sessionDir: folder }))
      expect(row).not.toHaveProperty("firstMessage");
    for await (const row of fileStore({ sessionDir: folder }).list())
      expect(row).not.toHaveProperty("firstMessage");
  });

  test("keeps a first message that reads like the placeholder, and so do all lists", async () => {
    const { folder, info } = await infoOf(new Chain().user("(no messages)").text);
    const rows: unknown[] = [info];
    for await (const row of iterateSessions({ sessionDir: folder })) rows.push(row);
    for await (const row of fileStore({ sessionDir: folder }).list()) rows.push(row);
    for await (const { session } of fileStore({ sessionDir: folder }).search("messages")) rows.push(session);
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(row).toMatchObject({ firstMessage: "(no messages)" });
  });

  test("names its parent in pi's term, too", async () => {
    const { info } = await infoOf(new Chain(header({ parentSession: "/other.jsonl" })).user("a").text);
    expect(info).toMatchObject({ parentSession: "/other.jsonl", parentSessionPath: "/other.jsonl" });
  });

  test("is the same object in progress events and in the result", async () => {
    const { folder } = await infoOf(new Chain().user("a").text);
    const shown: unknown[] = [];
    const infos = await SessionManager.listAll(folder, (_loaded, _total, partial = []) =>
      shown.push(...partial),
    );
    expect(shown.length).toBeGreaterThan(0);
    for (const one of shown) expect(one).toBe(infos[0]);
  });
});

describe("the text of all messages", () => {
  test("is that of user and assistant, in order, from the file at the first access", async () => {
    const chain = new Chain().user("one").message({ role: "toolResult", content: "out" }).assistant("two");
    const { info, path } = await infoOf(chain.text);
    put(path, chain.user("").user("three").text);
    expect(info.allMessagesText).toBe("one two three");
    put(path, chain.user("four").text);
    expect(info.allMessagesText).toBe("one two three");
  });

  test("counts a repeated line once, and finds text in any spelling", async () => {
    const chain = new Chain().user("é").assistant("b");
    const spaced = JSON.stringify({ ...chain.records[2], id: "00000009" }, null, 1).replaceAll("\n", "");
    const { info } = await infoOf(`${chain.text}${joinLines([chain.records[1]])}${spaced}\n`);
    expect(info.allMessagesText).toBe("é b b");
  });

  test("is empty if the file was removed", async () => {
    const { info, path } = await infoOf(new Chain().user("a").text);
    rmSync(path);
    expect(info.allMessagesText).toBe("");
  });
});
