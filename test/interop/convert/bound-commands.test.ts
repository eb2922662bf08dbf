import { isSessionError, SessionManager } from "sessiontree";
import { SessionController } from "sessiontree/controller";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { BindingChat, thinkingCall } from "../../support/thinking-binding/binding-chat.ts";

/** A controller whose session is a chat with a model that binds its thinking. */
class CommandedChat extends BindingChat {
  readonly controller: SessionController;

  constructor(session: SessionManager) {
    super(session);
    this.controller = new SessionController({
      session,
      summarize: async () => ({ text: "Notes." }),
      settings: { enabled: true, reserveTokens: 200, keepRecentTokens: 10 },
    });
  }

  override request(options = {}): ReturnType<BindingChat["request"]> {
    this.session = this.controller.session;
    return super.request(options);
  }

  override say(content: string): string {
    this.session = this.controller.session;
    return super.say(content);
  }

  /** Appends two turns, the first with a tool call; returns the ids of the entries on the path. */
  begin(): string[] {
    this.say("Look.");
    this.ask(thinkingCall("toolu_1"));
    this.result("toolu_1", "found");
    this.ask();
    this.say("Go on.");
    this.ask();
    return this.session.getPathIds();
  }

  /** Sends two more requests; returns the number of signatures in the last one. */
  end(): number {
    this.say("And now?");
    this.ask();
    this.say("And then?");
    const { messages } = this.request();
    expect({ void: this.sentVoid, leftOut: this.leftOut }).toEqual({ void: [], leftOut: [] });
    return JSON.stringify(messages).split('"signature"').length - 1;
  }
}

function start(): CommandedChat {
  return new CommandedChat(SessionManager.create(temporaryFolder(), temporaryFolder()));
}

describe("no request after a command contains void thinking or lacks valid thinking", () => {
  it("/new", async () => {
    const chat = start();
    chat.begin();
    await chat.controller.newSession();
    expect(chat.end()).toBe(1);
  });

  it("/resume", async () => {
    const chat = start();
    chat.begin();
    const path = chat.session.getSessionFile() ?? "";
    await chat.controller.newSession();
    await chat.controller.switchSession(path);
    expect(chat.end()).toBe(4);
  });

  it("/fork and /clone", async () => {
    const cases = [
      [4, {}, 3],
      [3, { position: "at" }, 3],
      [0, {}, 1],
    ] as const;
    for (const [entry, options, count] of cases) {
      const chat = start();
      const path = chat.begin();
      await chat.controller.fork(path[entry] ?? "", options);
      expect(chat.end()).toBe(count);
    }
    const chat = start();
    chat.begin();
    await chat.controller.clone();
    expect(chat.end()).toBe(4);
  });

  it("/tree, without and with a summary", async () => {
    for (const summarize of [false, true]) {
      const chat = start();
      const path = chat.begin();
      await chat.controller.navigateTree(path[3] ?? "", { summarize });
      expect(chat.end()).toBe(3);
      await chat.controller.navigateTree(path[5] ?? "", { summarize });
      expect(chat.end()).toBe(4);
    }
  });

  it("/tree while a tool runs, whose result does not land elsewhere", async () => {
    const chat = start();
    const [prompt = ""] = chat.begin();
    chat.say("Run it.");
    const call = chat.ask(thinkingCall("toolu_2"));
    await chat.controller.navigateTree(prompt);
    try {
      chat.result("toolu_2", "late", { expectedLeafId: call });
    } catch (error) {
      expect(isSessionError(error, "STALE_LEAF")).toBe(true);
    }
    expect(chat.end()).toBe(1);
    await chat.controller.navigateTree(call);
    chat.result("toolu_2", "late");
    expect(chat.end()).toBe(5);
  });

  it("/name and /session", () => {
    const chat = start();
    chat.begin();
    chat.controller.setName("Cart");
    chat.controller.getStats();
    expect(chat.end()).toBe(4);
  });

  it("/compact", async () => {
    const chat = start();
    chat.begin();
    await chat.controller.compact();
    expect(chat.end()).toBe(1);
  });

  it("automatic compaction", async () => {
    const chat = start();
    chat.inputTokens = 900;
    let compactions = 0;
    for (let turn = 1; turn <= 8; turn++) {
      chat.say(`Question ${turn}. ${"And please be exact. ".repeat(20)}`);
      const { compacted } = await chat.controller.compactIfNeeded({ contextWindow: 1000 });
      if (compacted) compactions++;
      chat.ask();
    }
    expect(compactions).toBeGreaterThan(0);
    expect(chat.end()).toBeGreaterThan(0);
  });

  it("/export", () => {
    const chat = start();
    chat.begin();
    const file = chat.controller.exportJsonl(`${temporaryFolder()}/copy.jsonl`);
    const copy = new BindingChat(SessionManager.open(file), { api: chat.api });
    copy.say("And now?");
    copy.ask();
    expect({ void: copy.sentVoid, leftOut: copy.leftOut }).toEqual({ void: [], leftOut: [] });
  });
});
