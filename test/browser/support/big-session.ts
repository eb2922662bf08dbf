import { seededRandom } from "../../../fixtures/support/seeded-random.ts";
import { SessionWriter } from "./session-writer.ts";

/** Text that occurs once in the big session, on a side branch. */
export const NEEDLE = "a lighthouse keeper counts herons";

const ANSWERS = [
  "The total is off by one cent when a discount applies. I look at how the lines are rounded.",
  "Rounding once keeps the sum right:\n\n```ts\nexport const total = (items: Item[]) =>\n  Math.round(sum(items));\n```",
  "Done. What changed:\n\n- the sum is rounded once\n- `receipt.ts` no longer knows about discounts\n- **all 41 tests pass**",
  "| place | before | after |\n|---|---:|---:|\n| receipt | 10.01 | 10.00 |\n| refund | 4.99 | 5.00 |",
];

const QUESTIONS = [
  "Receipts are one cent off when there is a discount. Can you find out why?",
  "And what about refunds?",
  "Please write a test for that first.",
  "Undo the last change and try it without floating point.",
];

const PLACES_BACK = 9;
const MODEL = { provider: "acme", model: "acorn-2" };

/**
 * Creates a session of many entries: turns with tools, branches of all sizes, compactions, summaries, and labels; the same
 * for the same arguments.
 */
export function bigSession(size: number, seed = 1): string {
  const random = seededRandom(seed);
  const session = new SessionWriter(MODEL);
  const turns: string[] = [];
  const below = (limit: number) => Math.floor(random() * limit);
  const one = (list: readonly string[]) => list[below(list.length)] ?? "";
  session.add("session_info", { name: "A very long session" });
  while (session.size < size) {
    turns.push(session.user(`${one(QUESTIONS)} (${session.size})`));
    for (let calls = below(9); calls > 0; calls--) useTool(session, below(3));
    session.assistant(one(ANSWERS));
    const chance = random();
    if (chance < 0.01) session.label(session.leaf ?? "", `mark ${session.size}`);
    else if (chance < 0.02) session.compact("## Goal\n\nTotals without a cent too many.", turns.at(-1) ?? "");
    else if (chance < 0.05) goBack(session, turns, below(PLACES_BACK), random() < 0.5);
  }
  return session.text;
}

/** Returns from a branch to an earlier turn, sometimes with a summary of the branch. */
function goBack(session: SessionWriter, turns: string[], far: number, withSummary: boolean): void {
  const fromId = session.leaf;
  const hasNeedle = session.text.includes(NEEDLE);
  if (!hasNeedle) session.assistant(`By the way, ${NEEDLE}.`);
  turns.length = Math.max(1, turns.length - far);
  session.leaf = turns.at(-1) ?? null;
  if (withSummary) session.add("branch_summary", { fromId, summary: "Another way was tried and left." });
}

function useTool(session: SessionWriter, which: number): void {
  const path = "src/receipt.ts";
  if (which === 0) session.tool("read", { path }, "export const total = (items) => 0;\n".repeat(20));
  else if (which === 1)
    session.tool("edit", { path, oldText: "+ round(cents)", newText: "+ cents" }, "Replaced 1 occurrence.");
  else session.tool("bash", { command: "npm test" }, "41 passing\n0 failing");
}
