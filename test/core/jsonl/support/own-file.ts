import { entryLine, GrowingFile, TIME } from "./files.ts";

/** Entry that this process writes. */
export type OwnEntry = readonly [id: string, parentId: string | null];

/** File that this process writes to, as a log does: own entries are added immediately after the write. */
export class OwnFile extends GrowingFile {
  /** Appends own entries in one write; `before` is the text that other writers appended just before. */
  append(entries: readonly OwnEntry[], before = ""): this {
    const hasBreak = this.index.isMidLine;
    const lines = entries.map(([id, parentId]) => `${entryLine(id, parentId)}\n`);
    this.write(`${before}${hasBreak ? "\n" : ""}${lines.join("")}`);
    entries.forEach(([id, parentId], i) => {
      const length = new TextEncoder().encode(lines[i]).length;
      const head = { type: "message", id, parentId, timestampMs: Date.parse(TIME) };
      this.index.addPending(head, length, hasBreak && i === 0);
    });
    return this;
  }

  /** Checks the file as a log does: either confirms the own entries or reads everything new. */
  look(): this {
    if (this.size === this.index.expectedEnd) this.index.confirmPending();
    else {
      this.index.expectPendingAmongOthers();
      this.catchUp();
    }
    return this;
  }

  /** Line of each entry, read at its indexed position. */
  get written(): string[] {
    return Array.from(this.index.tree.ordinals(), (ordinal) => {
      const { offset, length } = this.index.spans.at(ordinal);
      return this.text.slice(offset, offset + length);
    });
  }
}

/** Returns the positions of entries by id: ordinals may differ, because own entries come first. */
export function placesById({ tree, spans }: GrowingFile["index"]): object {
  return Object.fromEntries(
    Array.from(tree.ordinals(), (ordinal) => [tree.idAt(ordinal), spans.at(ordinal)]),
  );
}
