import { readdirSync } from "node:fs";
import { SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { scaleCount } from "../support/share.ts";
import { Children } from "./support/children.ts";
import { sandbox } from "./support/sandbox.ts";
import { user } from "./support/sessions.ts";

const children = new Children();

const PROCESSES = 6;

describe("openOrCreate", () => {
  test(`of ${PROCESSES} concurrent processes ends in one file`, async () => {
    for (let round = 0; round < scaleCount(10); round++) {
      const folder = sandbox();
      const started = Array.from({ length: PROCESSES }, (_, i) =>
        children.start("openOrCreate", [folder, "chat-7", `from ${i}`, i % 2 === 0 ? "store" : "class"]),
      );
      for (const child of started) expect(await child.hear()).toBe("ready");
      for (const child of started) child.dismiss();
      const said = await Promise.all(started.map((child) => child.hear()));
      for (const child of started) expect(await child.ended).toBe(0);
      const files = readdirSync(folder);
      expect(files).toHaveLength(1);
      const session = SessionManager.openOrCreate("/project", "chat-7", folder);
      const path = session.getSessionFile();
      const entries = session.getEntries().map(({ id }) => id);
      expect(said).toEqual(said.map(() => ({ path, entry: expect.toBeOneOf(entries) })));
      expect(entries).toHaveLength(PROCESSES);
      expect(session.issues).toEqual([]);
    }
  });

  test("creates a file immediately, and opens it again, of this project only", () => {
    const folder = sandbox();
    const one = SessionManager.openOrCreate("/project", "chat", {
      sessionDir: folder,
      persistLeafOnClose: true,
    });
    expect(readdirSync(folder)).toHaveLength(1);
    const id = one.appendMessage(user("hello"));
    const again = SessionManager.openOrCreate("/project", "chat", folder);
    expect([again.getSessionFile(), again.getLeafId()]).toEqual([one.getSessionFile(), id]);
    expect(SessionManager.openOrCreate("/other", "chat", folder).getEntryCount()).toBe(0);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  test("creates sessions of two projects with the same id in the same millisecond", () => {
    const folder = sandbox();
    const times = [1_000, 1_000, 1_001];
    const now = () => times.shift() ?? 2_000;
    const open = (cwd: string) => SessionManager.openOrCreate(cwd, "chat", { sessionDir: folder, now });
    expect([open("/project").getCwd(), open("/other").getCwd()]).toEqual(["/project", "/other"]);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  test("rejects invalid ids, and creates nothing when read-only", () => {
    const folder = sandbox();
    const code = (code: string) => expect.objectContaining({ code });
    for (const id of ["", "../x", "a/b"])
      expect(() => SessionManager.openOrCreate("/project", id, folder)).toThrow(code("INVALID_SESSION_ID"));
    expect(() =>
      SessionManager.openOrCreate("/project", "x", { sessionDir: folder, mode: "read-only" }),
    ).toThrow(code("SESSION_NOT_FOUND"));
    expect(() => Reflect.apply(SessionManager.openOrCreate, SessionManager, [undefined, "x"])).toThrow(
      TypeError,
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});
