import { describe, expect, it } from "vitest";
import type { SessionIndex } from "../../src/core/jsonl/session-index.ts";
import { codes, entryLine, joinSession, links, read } from "../core/jsonl/support/files.ts";
import { type OwnEntry, OwnFile, placesById } from "../core/jsonl/support/own-file.ts";
import fc from "../support/fast-check.ts";
import { hasHiddenRecord } from "./support/reference-lines.ts";

/** Another process's writes to the file: `#` is a unique number, and a torn line may be continued. */
const foreign = fc.array(
  fc.constantFrom(
    "whole\n",
    "whole",
    "orphan\n",
    "bare\n",
    "spaced\n",
    "front of it",
    "rest of it\n",
    "\n",
    "???\n",
    "\0\0",
    "\0\0\n",
    '{"type":"mess',
    "[]\n",
    "\r\n",
  ),
  { maxLength: 4 },
);

const step = fc.record({
  /** Writes of others before this process checks, and between its check and its write. */
  seen: foreign,
  unseen: foreign,
  own: fc.nat(2),
  parent: fc.nat(),
  isLooked: fc.boolean(),
});

/** Formats another process's writes; its ids are its own, and its parents are existing entries. */
class Foreign {
  #count = 0;

  spell(words: readonly string[], ids: readonly string[]): string {
    return words.map((word) => this.#spellOne(word, ids)).join("");
  }

  #spellOne(word: string, ids: readonly string[]): string {
    const id = `f${this.#count++}`;
    const line = entryLine(id, ids[this.#count % ids.length] ?? null);
    const end = word.endsWith("\n") ? "\n" : "";
    if (word.startsWith("whole")) return line + end;
    if (word.startsWith("orphan")) return entryLine(id, `gone-${id}`) + end;
    if (word.startsWith("bare")) return entryLine(undefined, undefined, { n: this.#count }) + end;
    if (word.startsWith("spaced")) return line.replace(/,"/g, ', "') + end;
    if (word.startsWith("front")) return line.slice(0, 120);
    if (word.startsWith("rest")) return line.slice(120) + end;
    return word;
  }
}

/**
 * Returns issues, each once, without those of zero bytes: these are reported if they arrived as the tail, even if others
 * continued after them.
 */
function issues(index: SessionIndex): string[] {
  return [...new Set(codes(index))].filter((code) => !code.startsWith("NUL_BYTES"));
}

describe("own entries among those of others", () => {
  it("are found in their places, and all else is as if the file were read again", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const file = new OwnFile().grow(joinSession(entryLine("a", null)));
        const others = new Foreign();
        const known = ["a"];
        for (const [n, { seen, unseen, own, parent, isLooked }] of steps.entries()) {
          file.write(others.spell(seen, known));
          if (isLooked) file.look();
          const entries = Array.from({ length: own }, (_, i): OwnEntry => {
            const id = `own-${n}-${i}`;
            return [id, i === 0 ? (known[parent % known.length] ?? null) : `own-${n}-${i - 1}`];
          });
          file.append(entries, others.spell(unseen, known));
          known.push(...entries.map(([id]) => id));
        }
        fc.pre(!hasHiddenRecord(new TextEncoder().encode(file.text)));
        file.look();
        const anew = read(file.text);
        expect(file.index.missingPending, file.text).toEqual([]);
        expect([...links(file.index)].sort(), file.text).toEqual([...links(anew)].sort());
        expect(placesById(file.index), file.text).toEqual(placesById(anew));
        expect(issues(file.index), file.text).toEqual(issues(anew));
        expect([file.index.position, file.index.isMidLine]).toEqual([file.size, anew.isMidLine]);
      }),
      { numRuns: 1500 },
    );
  });
});
