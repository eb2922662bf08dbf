import { SessionWriter } from "./session-writer.ts";

/** An image of one pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** IDs of the entries that tests look for in the small session. */
export interface SmallSession {
  readonly text: string;
  readonly question: string;
  readonly leftAnswer: string;
  readonly edit: string;
  readonly compaction: string;
  readonly kept: string;
  readonly last: string;
}

/** Creates a session with a bit of everything: branches, a summary, a label, a compaction, tools, thinking, an image. */
export function smallSession(): SmallSession {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  session.add("session_info", { name: "Fix the totals" });
  const question = session.user([
    { type: "text", text: "Why is the **total** off?" },
    { type: "image", mimeType: "image/png", data: PNG },
  ]);
  const leftAnswer = session.assistant("Hide the cent in the display.");
  const left = session.user("No, that is not honest.");
  session.leaf = question;
  session.add("branch_summary", { fromId: left, summary: "Hiding it was refused." });
  session.assistant([
    { type: "thinking", thinking: "Rounding may happen too early." },
    { type: "text", text: "```ts\nconst cents = Math.round(sum);\n```" },
  ]);
  session.tool("edit", { path: "receipt.ts", oldText: "a\nb\n", newText: "a\nc\n" }, "Replaced.");
  const edit = session.leaf ?? "";
  const kept = session.user("Then round once.");
  session.assistant("Rounded once.");
  session.label(session.leaf ?? "", "done");
  const compaction = session.compact("## Goal\n\nThe total is rounded once.", kept);
  const last = session.user("What about refunds?");
  return { text: session.text, question, leftAnswer, edit, compaction, kept, last };
}
