import type { ToolCall } from "../../../src/core/format/content.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import type { AgentMessage } from "../../../src/core/format/message.ts";
import fc from "../../support/fast-check.ts";
import { call, toolResult as result, user } from "../../support/messages.ts";
import { assistant, bash, malformed, system } from "./builders.ts";

type Draft = { type: string; [field: string]: unknown };

/** One step of a conversation. */
export type Step =
  | { kind: "user"; size: number; shape: "text" | "blocks" | "image" }
  | {
      kind: "turn";
      calls: readonly CallPlan[];
      size: number;
      usage: number;
      interjection: "none" | "user" | "custom";
    }
  | { kind: "bash"; size: number; isExcluded: boolean }
  | { kind: "custom"; size: number }
  | { kind: "branchSummary"; size: number }
  | { kind: "system"; size: number }
  | { kind: "metadata"; type: string }
  | { kind: "malformed"; which: number }
  | { kind: "edit"; target: number; replacement: "remove" | "text" | "blocks" }
  | {
      kind: "foreignCompaction";
      kept: "earlier" | "own" | "unknown" | "none";
      target: number;
      hasTail: boolean;
    }
  | { kind: "jump"; target: number };

interface CallPlan {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly answers: number;
}

const size = fc.oneof(fc.nat({ max: 60 }), fc.nat({ max: 3000 }));
const callPlan: fc.Arbitrary<CallPlan> = fc.record({
  name: fc.constantFrom("read", "write", "edit", "bash"),
  path: fc.constantFrom("a.ts", "b.ts", "c.ts", "d.ts"),
  size,
  // Mostly one result; occasionally none, because of a crash, or two.
  answers: fc.constantFrom(1, 1, 1, 1, 0, 2),
});

const plainSteps: fc.Arbitrary<Step>[] = [
  fc.record({ kind: fc.constant("user" as const), size, shape: fc.constantFrom("text", "blocks", "image") }),
  fc.record({
    kind: fc.constant("turn" as const),
    calls: fc.array(callPlan, { maxLength: 3 }),
    size,
    usage: fc.oneof(fc.constant(0), fc.nat({ max: 5000 })),
    interjection: fc.constantFrom("none", "none", "none", "user", "custom"),
  }),
  fc.record({ kind: fc.constant("bash" as const), size, isExcluded: fc.boolean() }),
  fc.record({ kind: fc.constant("custom" as const), size }),
  fc.record({ kind: fc.constant("branchSummary" as const), size }),
  fc.record({ kind: fc.constant("system" as const), size }),
  fc.record({
    kind: fc.constant("metadata" as const),
    type: fc.constantFrom("label", "model_change", "custom", "of_tomorrow"),
  }),
];

const oddSteps: fc.Arbitrary<Step>[] = [
  fc.record({ kind: fc.constant("malformed" as const), which: fc.nat({ max: 6 }) }),
  fc.record({
    kind: fc.constant("edit" as const),
    target: fc.nat(),
    replacement: fc.constantFrom("remove", "text", "blocks"),
  }),
  fc.record({
    kind: fc.constant("foreignCompaction" as const),
    kept: fc.constantFrom("earlier", "own", "unknown", "none"),
    target: fc.nat(),
    hasTail: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("jump" as const), target: fc.nat() }),
];

// A conversation consists mostly of turns.
const [userStep, turnStep] = plainSteps;
const weighted = [
  ...plainSteps,
  ...(turnStep ? [turnStep, turnStep, turnStep] : []),
  ...(userStep ? [userStep] : []),
];

/** Steps between two compactions, without edits, branches, damage, or other writers. */
export const plainChapter = fc.array(fc.oneof(...weighted), { maxLength: 12 });

/** Steps between two compactions. */
export const anyChapter = fc.array(fc.oneof(...weighted, ...weighted, ...oddSteps), { maxLength: 12 });

/** Growing session: entries in file order, the last one being the leaf. */
export class Conversation {
  readonly entries: AnySessionEntry[] = [];
  readonly #reusesCallIds: boolean;
  #parentId: string | null = null;
  #calls = 0;
  #words = 0;

  constructor(options: { reusesCallIds: boolean }) {
    this.#reusesCallIds = options.reusesCallIds;
  }

  play(steps: readonly Step[]): void {
    for (const step of steps) this.#playStep(step);
  }

  append(draft: Draft): AnySessionEntry {
    const id = `e${this.entries.length}`;
    const entry = { ...draft, id, parentId: this.#parentId, timestamp: "2026-01-01T00:00:00.000Z" };
    this.entries.push(entry);
    this.#parentId = id;
    return entry;
  }

  /** Returns a text that occurs nowhere else. */
  #text(length: number): string {
    return `#${this.#words++}#${"x".repeat(length)}`;
  }

  #playStep(step: Step): void {
    const draft = this.#makeDraft(step);
    if (draft !== undefined) this.append(draft);
    else if (step.kind === "turn") this.#turn(step);
    else if (step.kind === "foreignCompaction") this.#foreignCompaction(step);
    else if (step.kind === "jump") this.#parentId = this.#earlier(step.target) ?? null;
  }

  /** Returns the entry that a step adds; undefined if it adds none or several. */
  #makeDraft(step: Step): Draft | undefined {
    switch (step.kind) {
      case "user":
        return stored(this.#userMessage(step.size, step.shape));
      case "bash":
        return stored({ ...bash("ls", this.#text(step.size)), excludeFromContext: step.isExcluded });
      case "system":
        return stored({ ...system(this.#text(step.size)), sections: { rules: "r".repeat(step.size) } });
      case "custom":
        return this.#note(step.size);
      case "branchSummary":
        return {
          type: "branch_summary",
          fromId: "root",
          summary: step.size === 0 ? "" : this.#text(step.size),
        };
      case "metadata":
        return { type: step.type, targetId: "e0", label: "x", provider: "p", modelId: "m", customType: "c" };
      case "malformed":
        return MALFORMED[step.which] ?? { type: "message" };
      case "edit":
        return {
          type: "context_edit",
          targetId: this.#earlier(step.target),
          replacement: this.#replacement(step),
        };
      default:
        return undefined;
    }
  }

  #replacement({ replacement }: Step & { kind: "edit" }): object | null {
    return { remove: null, text: { content: this.#text(9) }, blocks: { content: [] } }[replacement];
  }

  #userMessage(length: number, shape: "text" | "blocks" | "image"): AgentMessage {
    const text = this.#text(length);
    if (shape === "text") return { role: "user", content: text, timestamp: 1 };
    if (shape === "blocks") return user(text);
    const image = { type: "image" as const, data: "aaaa", mimeType: "image/png" };
    return { role: "user", content: [{ type: "text", text }, image], timestamp: 1 };
  }

  #note(length: number): Draft {
    return { type: "custom_message", customType: "note", content: this.#text(length), display: true };
  }

  #turn({ calls, size: length, usage, interjection }: Step & { kind: "turn" }): void {
    const made = calls.map((plan, index): { plan: CallPlan; call: ToolCall } => {
      const id = this.#reusesCallIds ? `call_${index}` : `call_${this.#calls++}`;
      return { plan, call: call(id, plan.name, { path: plan.path }) };
    });
    const text = this.#text(length);
    this.append(
      stored(
        assistant(
          text,
          made.map(({ call }) => call),
          usage,
        ),
      ),
    );
    if (interjection === "user") this.append(stored(user(this.#text(length))));
    if (interjection === "custom") this.append(this.#note(length));
    for (const { plan, call } of made) {
      for (let i = 0; i < plan.answers; i++) this.append(stored(result(call.id, this.#text(plan.size))));
    }
  }

  #foreignCompaction({ kept, target, hasTail }: Step & { kind: "foreignCompaction" }): void {
    const ownId = `e${this.entries.length}`;
    const keptId = { earlier: this.#earlier(target), own: ownId, unknown: "nobody", none: undefined }[kept];
    const tail = [user(this.#text(20)), assistant(this.#text(5), [call(`tail_${ownId}`)])];
    const more = hasTail ? { retainedTail: tail } : {};
    this.append({
      type: "compaction",
      summary: this.#text(30),
      firstKeptEntryId: keptId,
      tokensBefore: 1,
      ...more,
    });
    if (hasTail) this.append(stored(result(`tail_${ownId}`, this.#text(5))));
  }

  #earlier(target: number): string | undefined {
    return this.entries[target % Math.max(1, this.entries.length)]?.id;
  }
}

function stored(message: AgentMessage): Draft {
  return { type: "message", message };
}

const MALFORMED: readonly Draft[] = [
  { type: "message" },
  { type: "message", message: malformed({ role: "assistant", content: null, usage: { prompt_tokens: 5 } }) },
  { type: "message", message: malformed({ role: "toolResult", toolCallId: 7, content: "as text" }) },
  { type: "message", message: malformed({ role: "hologram", content: {} }) },
  { type: "message", message: malformed({ role: "assistant", content: [{ type: "toolCall" }, null] }) },
  { type: "custom_message", customType: 4 },
  { type: "context_edit", targetId: {}, replacement: 3 },
];
