import { appendFileSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type SessionEntry, SessionManager } from "sessiontree";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Children } from "../../fault/support/children.ts";
import { names, place, sandbox, snapshot } from "../../fault/support/sandbox.ts";
import { BRANCHED, getTexts, header, lines, message, user } from "../../fault/support/sessions.ts";
import { moveOver } from "../../support/move-over.ts";
import { IS_WINDOWS } from "../../support/platform.ts";

const children = new Children();

/** Watches a session until the end of the test. */
class Watch {
  readonly #entries: AsyncGenerator<SessionEntry, void>;
  readonly #controller = new AbortController();

  constructor(session: SessionManager) {
    this.#entries = session.watch({ signal: this.#controller.signal });
    onTestFinished(() => this.#controller.abort());
  }

  /** Starts to wait for the next entry. */
  next(): Promise<SessionEntry | undefined> {
    return this.#entries.next().then(({ value }) => value ?? undefined);
  }

  async take(count: number): Promise<SessionEntry[]> {
    const taken: SessionEntry[] = [];
    while (taken.length < count) {
      const entry = await this.next();
      if (entry === undefined) break;
      taken.push(entry);
    }
    return taken;
  }

  abort(): void {
    this.#controller.abort();
  }
}

/** Waits until everything due has happened. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("watching", () => {
  test("yields an entry that another process appends, soon", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const watch = new Watch(SessionManager.open(path));
    const writer = children.start("appendEvery", [path]);
    expect(await writer.hear()).toBe("ready");
    const delays: number[] = [];
    for (let i = 0; i < 10; i++) {
      const arrival = watch.next().then((entry) => ({ entry, at: Date.now() }));
      writer.tell();
      const said = Object(await writer.hear());
      const { entry, at } = await arrival;
      expect(entry?.id).toBe(said.id);
      delays.push(at - said.at);
    }
    writer.dismiss();
    await writer.ended;
    console.info(`entries of another process arrived after ${delays.join(", ")} ms`);
  });

  test("ends with the session, and allows the process to exit", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const session = SessionManager.open(path);
    const watchers = () => process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap").length;
    const before = watchers();
    const watching = session.watch();
    const next = watching.next();
    await turn();
    expect(watchers()).toBe(before + 1);
    await session.close();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await session.watch().next()).toEqual({ done: true, value: undefined });
    await vi.waitFor(() => expect(watchers()).toBeLessThanOrEqual(before));
  });

  test("yields each entry of others once, in order, and none of its own", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const session = SessionManager.open(path);
    const watch = new Watch(session);
    const other = SessionManager.open(path);
    const first = watch.take(3);
    other.appendMessage(user("a"));
    session.appendMessage(user("mine"));
    other.appendMessage(user("b"));
    session.refresh();
    other.appendMessage(user("c"));
    expect(getTexts(await first)).toEqual(["a", "b", "c"]);
    const rest = watch.take(50);
    for (let i = 0; i < 50; i++) {
      other.appendMessage(user(`${i}`));
      if (i % 10 === 0) await turn();
    }
    expect(getTexts(await rest)).toEqual(Array.from({ length: 50 }, (_, i) => `${i}`));
  });

  test("continues next to other watchers of the same session", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const session = SessionManager.open(path);
    const watches = [new Watch(session), new Watch(session)];
    const both = Promise.all(watches.map((watch) => watch.take(2)));
    appendFileSync(path, lines(message("000000f1", null, "a"), message("000000f2", null, "b")));
    expect((await both).map(getTexts)).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
  });

  test("ends on an abort before a wait, during one, or with entries pending", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const session = SessionManager.open(path);
    const early = new Watch(session);
    early.abort();
    expect(await early.next()).toBeUndefined();
    const waiting = new Watch(session);
    const next = waiting.next();
    await turn();
    waiting.abort();
    expect(await next).toBeUndefined();
    expect(await waiting.next()).toBeUndefined();
  });

  // Windows ends a watcher only some time after it is closed.
  test.skipIf(IS_WINDOWS)("releases everything if its reader returns during a wait", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const session = SessionManager.open(path);
    const [begun, ended] = [vi.spyOn(globalThis, "setInterval"), vi.spyOn(globalThis, "clearInterval")];
    onTestFinished(() => {
      vi.restoreAllMocks();
    });
    await turn();
    const isWatcher = (kind: string) => kind === "FSEventWrap";
    const handles = () =>
      process.getActiveResourcesInfo().filter(isWatcher).length +
      begun.mock.results.filter(({ value }) => !ended.mock.calls.some(([timer]) => timer === value)).length;
    const before = handles();
    const watches = Array.from({ length: 20 }, () => session.watch());
    const waiting = watches.map((watch) => watch.next());
    expect(handles()).toBe(before + 40);
    const left = watches.map((watch, i) => (i % 2 === 0 ? watch.return() : watch[Symbol.asyncDispose]()));
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ done: true, value: undefined })));
    await Promise.all(left);
    await turn();
    expect(handles()).toBe(before);
    for (const watch of watches) expect(await watch.next()).toEqual({ done: true, value: undefined });
    const thrown = session.watch();
    const next = thrown.next();
    await expect(thrown.throw(new Error("mine"))).rejects.toThrow("mine");
    expect(await next).toEqual({ done: true, value: undefined });
    await turn();
    expect(handles()).toBe(before);
  });

  test("any number of watchers can wait for one signal, without a warning", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const sessions = [SessionManager.open(path), SessionManager.open(path)];
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    const end = new AbortController();
    const watches = Array.from({ length: 30 }, (_, i) => sessions[i % 2]?.watch({ signal: end.signal }));
    const waiting = watches.map((watch) => watch?.next());
    await turn();
    end.abort();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ done: true, value: undefined })));
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });

  test("allows the process to exit after its reader returns or aborts", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    expect(await children.run("watchAndLeave", [path])).toHaveLength(1);
  });

  test("changes neither the file nor its times", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED.trimEnd());
    const watch = new Watch(SessionManager.open(path, { mode: "read-only" }));
    const next = watch.next();
    appendFileSync(path, `\n${lines(message("000000f1", null, "a"))}`);
    const after = snapshot(path);
    expect((await next)?.id).toBe("000000f1");
    expect(snapshot(path)).toEqual(after);
    expect(names(dirname(path))).toEqual(["s.jsonl"]);
  });

  test("finds a file that is created later", async () => {
    const path = join(sandbox(), "s.jsonl");
    const session = SessionManager.open(path);
    const watch = new Watch(session);
    const next = watch.take(2);
    await turn();
    const other = SessionManager.open(path);
    other.appendMessage(user("a"));
    other.appendMessage(user("b"));
    expect(getTexts(await next)).toEqual(["a", "b"]);
    expect(session.getSessionId()).toBe(other.getSessionId());
    session.appendMessage(user("c"));
    expect(getTexts(SessionManager.open(path).getEntries())).toEqual(["a", "b", "c"]);
  });

  test("finds a file that is created later in a folder that is created later", async () => {
    const path = join(sandbox(), "later", "s.jsonl");
    const watch = new Watch(SessionManager.open(path));
    const next = watch.next();
    await turn();
    mkdirSync(dirname(path));
    writeFileSync(path, lines(header(), message("000000f1", null, "a")));
    expect((await next)?.id).toBe("000000f1");
  });

  // Windows keeps the name of a file that is removed while it is open.
  test.skipIf(IS_WINDOWS)(
    "continues with a file that is replaced, and waits for one that is removed",
    async () => {
      const path = place(sandbox(), "s.jsonl", BRANCHED);
      const watch = new Watch(SessionManager.open(path));
      const first = watch.next();
      await turn();
      copyFileSync(path, `${path}.new`);
      appendFileSync(`${path}.new`, lines(message("000000f1", null, "a")));
      moveOver(`${path}.new`, path);
      expect((await first)?.id).toBe("000000f1");
      const second = watch.next();
      copyFileSync(path, `${path}.new`);
      rmSync(path);
      await turn();
      appendFileSync(`${path}.new`, lines(message("000000f2", null, "b")));
      moveOver(`${path}.new`, path);
      expect((await second)?.id).toBe("000000f2");
    },
  );

  test("throws a typed error if another session is at the file's path", async () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const watch = new Watch(SessionManager.open(path));
    const next = watch.next();
    writeFileSync(`${path}.new`, lines(header({ id: "other" })));
    moveOver(`${path}.new`, path);
    await expect(next).rejects.toMatchObject({ code: "WRITE_FAILED" });
  });
});
