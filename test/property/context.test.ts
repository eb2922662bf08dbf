import { describe, expect, it } from "vitest";
import { convertToLlm } from "../../src/core/context/convert-to-llm.ts";
import { makeEntryPath } from "../../src/core/context/entry-path.ts";
import { findLeafPath } from "../../src/core/context/leaf-path.ts";
import { projectContextEntry, sessionEntryToContextMessages } from "../../src/core/context/project-entry.ts";
import {
  buildContextEntries,
  buildSessionContext,
  buildSessionProjection,
  projectPath,
} from "../../src/core/context/session-context.ts";
import type { AnySessionEntry } from "../../src/core/format/entry.ts";
import { call, Line, result, system, watchedPath } from "../core/context/support/entries.ts";
import { GrowingContext } from "../core/context/support/growing-context.ts";
import { pairFaults } from "../core/context/support/pairs.ts";
import fc from "../support/fast-check.ts";
import { assistant, user } from "../support/messages.ts";

/** Step of a session; numbers choose among existing entries, so that every step fits every session. */
type Step =
  | { kind: "move"; to: number }
  | { kind: "look" }
  | { kind: "say"; role: "user" | "system" | "assistant"; text: string }
  | { kind: "call" | "result"; ids: number[] }
  | { kind: "compact"; keep: number; tail: boolean }
  | { kind: "edit"; target: number; replacement: null | string | number }
  | { kind: "set"; level: boolean }
  | { kind: "other"; type: string; body: unknown };

const pick = fc.nat({ max: 40 });
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("move" as const), to: pick }) },
  { weight: 2, arbitrary: fc.constant({ kind: "look" as const }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("say" as const),
      role: fc.constantFrom("user" as const, "system" as const, "assistant" as const),
      text: fc.string({ maxLength: 3 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom("call" as const, "result" as const),
      ids: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("compact" as const), keep: pick, tail: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("edit" as const),
      target: pick,
      replacement: fc.oneof(fc.constant(null), fc.string({ maxLength: 2 }), fc.nat()),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("set" as const), level: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("other" as const),
      type: fc.constantFrom(
        "message",
        "custom_message",
        "branch_summary",
        "compaction",
        "label",
        "custom",
        "unheard_of",
      ),
      body: fc.jsonValue({ maxDepth: 2 }),
    }),
  },
);

/** Returns the id of an existing entry, or occasionally of a missing or future one. */
const nameOf = (line: Line, n: number) =>
  n % 7 === 6 ? `e${line.entries.length + 1 + (n % 3)}` : `e${1 + (n % (line.entries.length + 1))}`;

function append(line: Line, one: Exclude<Step, { kind: "move" | "look" }>): AnySessionEntry {
  switch (one.kind) {
    case "say":
      return line.message(
        one.role === "user" ? user(one.text) : one.role === "system" ? system(one.text) : assistant(one.text),
      );
    case "call":
      return line.message(
        assistant(
          one.ids.map((id) => call(`c${id}`)),
          { provider: `p${one.ids[0]}` },
        ),
      );
    case "result":
      return line.message(result(`c${one.ids[0]}`));
    case "compact":
      return line.compaction(nameOf(line, one.keep), one.tail ? { retainedTail: [user("kept")] } : {});
    case "edit":
      return line.raw("context_edit", {
        targetId: nameOf(line, one.target),
        replacement: typeof one.replacement === "string" ? { content: one.replacement } : one.replacement,
      });
    case "set":
      if (one.level)
        return line.add({ type: "thinking_level_change", thinkingLevel: `l${line.entries.length}` });
      return line.add({ type: "model_change", provider: "p", modelId: `m${line.entries.length}` });
    case "other":
      return line.raw(one.type, {
        message: { role: "assistant", content: one.body, provider: one.body, model: "m" },
        content: one.body,
        summary: one.body,
        firstKeptEntryId: one.body,
        retainedTail: one.body,
        systemMessage: one.body,
      });
  }
}

function move(line: Line, to: number): void {
  const at = to % (line.entries.length + 1);
  line.leaf = at === 0 ? null : `e${at}`;
}

/** Plays all steps; moves change the parent of the next entry. */
function play(steps: readonly Step[]): Line {
  const line = new Line();
  for (const one of steps) {
    if (one.kind === "move") move(line, one.to);
    else if (one.kind !== "look") append(line, one);
  }
  return line;
}

const leavesOf = (line: Line) => [null, ...line.entries.map(({ id }) => id)];

describe("context", () => {
  it("grown step by step equals the context built from the entries", () => {
    const body = (steps: Step[]) => {
      const line = new Line();
      const cache = new GrowingContext();
      const look = () => {
        const cached = cache.get(() => makeEntryPath(findLeafPath(line.entries, line.leaf)));
        expect(cached.context()).toEqual(buildSessionContext(line.entries, line.leaf));
        expect(cached.projection()).toEqual(buildSessionProjection(line.entries, line.leaf));
        expect(cached.contextEntries()).toEqual(buildContextEntries(line.entries, line.leaf));
      };
      for (const one of steps) {
        if (one.kind === "look") look();
        else if (one.kind !== "move") cache.extend(append(line, one));
        else {
          move(line, one.to);
          cache.clear();
        }
      }
      look();
    };
    fc.assert(fc.property(fc.array(step, { maxLength: 40 }), body), { numRuns: 1500 });
  });

  it("depends on the path alone: entries off the path change nothing", () => {
    const body = (steps: Step[], off: Step[], choice: number) => {
      const line = play(steps);
      const leaf = leavesOf(line)[choice % (line.entries.length + 1)] ?? null;
      const before = buildSessionProjection(line.entries.slice(), leaf);
      for (const one of off) {
        if (one.kind === "move") move(line, one.to);
        else if (one.kind !== "look") append(line, one);
      }
      expect(buildSessionProjection(line.entries, leaf)).toEqual(before);
      expect(buildSessionProjection(findLeafPath(line.entries, leaf), leaf)).toEqual(before);
      expect(projectPath(watchedPath(findLeafPath(line.entries, leaf)))).toEqual(before);
    };
    const steps = fc.array(step, { maxLength: 25 });
    fc.assert(fc.property(steps, steps, pick, body), { numRuns: 1000 });
  });

  it("reads unselected bodies only in search of settings", () => {
    const body = (steps: Step[]) => {
      const line = play([...steps, { kind: "set", level: true }, { kind: "set", level: false }]);
      const path = watchedPath(findLeafPath(line.entries, line.leaf));
      const selected = projectPath(path).entries.map(({ sourceEntry }) => sourceEntry.id);
      const isSystem = (id: string) =>
        JSON.stringify(line.entries.find((one) => one.id === id)).includes('"system"');
      expect(path.asked.filter((id) => !selected.includes(id) && !isSystem(id))).toEqual([]);
    };
    fc.assert(fc.property(fc.array(step, { maxLength: 30 }), body), { numRuns: 500 });
  });

  it("of any tree at any leaf makes a request in which every call has its result", () => {
    const body = (steps: Step[]) => {
      const line = play(steps);
      for (const leaf of leavesOf(line)) {
        const { messages } = buildSessionContext(line.entries, leaf);
        expect(pairFaults(convertToLlm(messages, { repairToolPairs: true }))).toEqual([]);
      }
    };
    fc.assert(fc.property(fc.array(step, { maxLength: 30 }), body), { numRuns: 500 });
  });

  it("is built for any graph of entries, with cycles and duplicate ids", () => {
    const id = fc.constantFrom("a", "b", "c", "d", "e");
    const parentId = fc.option(fc.constantFrom("a", "b", "c", "d", "e", "gone"));
    const entry = fc.record({
      id,
      parentId,
      type: fc.constantFrom("message", "compaction", "context_edit"),
      other: id,
    });
    const body = (
      graph: { id: string; parentId: string | null; type: string; other: string }[],
      leaf: string | null,
    ) => {
      const entries = graph.map(({ other, ...head }) => ({
        ...head,
        timestamp: "2026-01-01T00:00:00.000Z",
        message: user(other),
        firstKeptEntryId: other,
        targetId: other,
        replacement: null,
      }));
      const byId = new Map(entries.map((one) => [one.id, one]));
      for (const selected of [buildContextEntries(entries, leaf), buildContextEntries(entries, leaf, byId)]) {
        expect(new Set(selected).size).toBe(selected.length);
        if (leaf !== null && entries.length > 0) expect(selected).not.toEqual([]);
      }
    };
    fc.assert(fc.property(fc.array(entry, { maxLength: 12 }), fc.option(id), body), {
      numRuns: 1000,
    });
  });
});

describe("the projection of one entry", () => {
  it("accepts any body, and returns messages that have a role and never lack content", () => {
    const type = fc.constantFrom(
      "message",
      "compaction",
      "branch_summary",
      "custom_message",
      "context_edit",
      "x",
    );
    const value = fc.jsonValue({ maxDepth: 3 });
    const message = fc.oneof(
      value,
      fc.record({
        role: fc.constantFrom("user", "assistant", "toolResult", "system", "custom", "x"),
        content: value,
      }),
    );
    const fields = fc.record(
      {
        message,
        summary: value,
        tokensBefore: value,
        content: value,
        timestamp: value,
        systemMessage: message,
        retainedTail: fc.oneof(value, fc.array(message)),
        targetId: value,
        replacement: fc.oneof(value, fc.record({ content: value })),
      },
      { requiredKeys: [] },
    );
    const body = (kind: string, content: object, editBody: object) => {
      const entry = new Line().raw(kind, content);
      const edit = { ...new Line().edit("e1", null), ...editBody };
      for (const made of [...sessionEntryToContextMessages(entry), ...projectContextEntry(entry, edit)]) {
        expect(typeof made.role).toBe("string");
        if (["user", "assistant", "toolResult", "system"].includes(made.role)) {
          expect("content" in made && (typeof made.content === "string" || Array.isArray(made.content))).toBe(
            true,
          );
        }
        if ("timestamp" in made && kind !== "message") expect(made.timestamp).not.toBeNaN();
      }
    };
    fc.assert(fc.property(type, fields, fields, body), { numRuns: 2000 });
  });
});
