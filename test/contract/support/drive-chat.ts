import { createInterface } from "node:readline";

/** Page's side of a chat. */
export interface DrivenChat {
  ask(text: string): Promise<void>;
  resolve(toolCallId: string, outcome: object): Promise<void>;
  regenerate(): Promise<void>;
  resume(): Promise<void>;
}

/**
 * Executes the lines of the standard input: `ask TEXT`, `resolve CALL JSON`, `regenerate`, and `resume`; prints `done` after
 * each.
 *
 * @param open - Opens the chat; its parameter prints the messages.
 */
export async function driveChat(open: (show: (messages: unknown[]) => void) => DrivenChat): Promise<void> {
  const chat = open((messages) => console.log(JSON.stringify(messages.at(-1))));
  console.log("ready");
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "resume") await chat.resume();
    else if (line === "regenerate") await chat.regenerate();
    else if (line.startsWith("resolve ")) {
      const [, call = "", outcome = ""] = /^resolve (\S+) (.*)$/.exec(line) ?? [];
      await chat.resolve(call, JSON.parse(outcome));
    } else await chat.ask(line.replace(/^ask /, ""));
    console.log("done");
  }
}
