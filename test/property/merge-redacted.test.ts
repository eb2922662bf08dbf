import { describe, expect, it } from "vitest";
import { REDACTION_CUSTOM_TYPE } from "../../src/core/format/redaction.ts";
import { readSession } from "../../src/core/jsonl/read-session.ts";
import { mergeSessionContents } from "../../src/core/merge/merge-plan.ts";
import { joinFile, said } from "../core/merge/support/lines.ts";
import fc from "../support/fast-check.ts";
import { scaleCount } from "../support/share.ts";

/** Words of a message, each of which a redaction may remove. */
const WORDS = ["alpha", "beta", "gamma"];

/** Step in a copy: an append, or a redaction of all or some words of a common entry. */
interface Step {
  readonly at: number;
  readonly second: number;
  readonly removed: "nothing" | "all" | readonly number[];
}

const step: fc.Arbitrary<Step> = fc.record({
  at: fc.nat(2),
  second: fc.nat(9),
  removed: fc.oneof(
    fc.constant("nothing" as const),
    fc.constant("all" as const),
    fc.uniqueArray(fc.nat(WORDS.length - 1), { minLength: 1 }),
  ),
});

const FRONT = [0, 1, 2].map((n) => idOf(n));

function idOf(n: number): string {
  return String(n).padStart(8, "0");
}

/** Copy of a session of three messages, with its steps. */
interface Copy {
  readonly text: string;
  /** Words that it has redacted, by entry. */
  readonly removed: ReadonlyMap<string, ReadonlySet<string>>;
}

function copyOf(who: number, steps: readonly Step[]): Copy {
  const words = new Map(FRONT.map((id) => [id, [...WORDS]]));
  const removed = new Map(FRONT.map((id) => [id, new Set<string>()]));
  const wiped = new Set<string>();
  const more: object[] = [];
  steps.forEach(({ at, second, removed: gone }, n) => {
    const id = FRONT[at] ?? "";
    const own = `${who}${idOf(n).slice(1)}`;
    if (gone === "nothing") {
      more.push(said(own, id, second, "goes on"));
      return;
    }
    const which = gone === "all" ? WORDS : gone.map((one) => WORDS[one] ?? "");
    for (const word of which) removed.get(id)?.add(word);
    if (gone === "all") wiped.add(id);
    words.set(id, words.get(id)?.map((word) => (which.includes(word) ? "-" : word)) ?? []);
    const data = gone === "all" ? { targetId: id } : { targetIds: [id] };
    more.push({ ...said(own, id, second), type: "custom", customType: REDACTION_CUSTOM_TYPE, data });
  });
  const front = FRONT.map((id, n) => {
    const content = wiped.has(id) ? "[redacted]" : (words.get(id)?.join(" ") ?? "");
    return said(id, FRONT[n - 1] ?? null, 0, content);
  });
  return { text: joinFile(...front, ...more), removed };
}

const steps = fc.array(step, { maxLength: 4 });
const copies = fc
  .tuple(steps, steps, steps)
  .map((all) => all.map((one, who) => copyOf(who + 1, one)) as [Copy, Copy, Copy]);

const decoder = new TextDecoder();

function merge(a: string, b: string): string {
  return decoder.decode(mergeSessionContents(a, b).content);
}

describe("merging copies with redactions", () => {
  it("gives the same bytes in any order, and when repeated", () => {
    fc.assert(
      fc.property(copies, ([{ text: a }, { text: b }, { text: c }]) => {
        const two = merge(a, b);
        expect(merge(b, a)).toBe(two);
        for (const one of [a, b, two]) expect(merge(two, one)).toBe(two);
        const all = merge(two, c);
        expect(merge(a, merge(b, c))).toBe(all);
        expect(merge(merge(a, c), b)).toBe(all);
      }),
      { numRuns: scaleCount(500) },
    );
  });

  it("restores nothing that a copy has redacted, and loses no entry", () => {
    fc.assert(
      fc.property(copies, ([a, b]) => {
        const { entries, issues } = readSession(merge(a.text, b.text));
        expect(issues).toEqual([]);
        const ids = new Set([a, b].flatMap(({ text }) => readSession(text).entries.map(({ id }) => id)));
        expect(entries.map(({ id }) => id).sort()).toEqual([...ids].sort());
        for (const entry of entries) {
          const content = JSON.stringify(entry);
          for (const { removed } of [a, b])
            for (const word of removed.get(entry.id) ?? []) expect(content).not.toContain(word);
        }
      }),
      { numRuns: scaleCount(500) },
    );
  });
});
