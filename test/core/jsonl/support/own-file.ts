import { entryLine, GrowingFile, TIME } from "./files.ts";

/** An entry that this process writes. */
export type OwnEntry = readonly [id: string, parentId: string | null];

/** A file that this process writes to, as a log does: own entries are added as soon as they are written. */
export class OwnFile extends GrowingFile {
  /** Appends own entries in one write, `before` standing for what others wrote just before it. */
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

  /** Looks at the file as a log does: nothing else is there, or all that is new is read. */
  look(): this {
    if (this.size === this.index.expectedEnd) this.index.confirmPending();
    else {
      this.index.expectPendingAmongOthers();
      this.catchUp();
    }
    return this;
  }

  /** The line of each entry, read where the index says that it is. */
  get written(): string[] {
    return Array.from(this.index.tree.ordinals(), (ordinal) => {
      const { offset, length } = this.index.spans.at(ordinal);
      return this.text.slice(offset, offset + length);
    });
  }
}

/** What an index says of where entries stand, by id: ordinals may differ, since own entries come first. */
export function placesById({ tree, spans }: GrowingFile["index"]): object {
  return Object.fromEntries(
    Array.from(tree.ordinals(), (ordinal) => [tree.idAt(ordinal), spans.at(ordinal)]),
  );
}
