import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import type { LineChange } from "../../core/jsonl/entry-body.ts";
import { makeIssue } from "../../core/jsonl/issue-log.ts";
import { SessionIndex } from "../../core/jsonl/session-index.ts";
import { Blocks } from "./blocks.ts";
import { copyLines, planWholeCopy } from "./canonical-copy.ts";
import { assertLeaf } from "./expected-leaf.ts";
import { encodeLines, getBytes, indexWritten } from "./log-lines.ts";
import { feedWhole } from "./read-session-file.ts";
import type { LogChange, LogLine, SessionLog, TakeLine } from "./session-log.ts";

/**
 * Session whose lines are in memory. Serves as the executable specification of a log.
 *
 * @remarks Cost: O(affected bytes) for every call.
 */
export class MemoryLog implements SessionLog {
  readonly path = undefined;
  readonly keepsObjects = true;
  onChange: ((change: LogChange) => void) | undefined;
  onPersistence: undefined;
  #blocks: Blocks;
  #index: SessionIndex;
  #isClosed = false;

  /** @param content - Initial lines, beginning with the header. Bytes may be given in pieces. */
  constructor(content: string | Iterable<Uint8Array>) {
    this.#blocks = Blocks.of(typeof content === "string" ? [content] : content);
    this.#index = this.#newIndex();
  }

  get index(): SessionIndex {
    return this.#index;
  }

  get readOnlyReason(): "version" | "closed" | undefined {
    if (this.#isClosed) return "closed";
    return this.#index.version > CURRENT_SESSION_VERSION ? "version" : undefined;
  }

  /** All bytes, as a file would contain them. */
  get bytes(): Uint8Array {
    return this.#blocks.join();
  }

  readLines(ordinals: Iterable<number>, take: TakeLine): void {
    this.#blocks.readLines(this.index.spans, ordinals, take);
  }

  checkReplaced(): boolean {
    return false;
  }

  append(lines: readonly LogLine[]): number {
    const encoded = encodeLines(lines, this.index.isMidLine);
    const first = this.index.tree.size;
    indexWritten(this.index, encoded);
    this.#blocks.add(getBytes(encoded));
    this.index.confirmPending();
    for (const { head, replaced } of lines) {
      if (replaced === undefined) continue;
      const place = this.index.spans.at(this.index.tree.find(head.id));
      this.index.report(makeIssue("VALUE_REPLACED", place, head.id, replaced));
    }
    return first;
  }

  rewrite(changeLine: LineChange, more: () => readonly LogLine[]): void {
    const before = this.#index;
    this.#blocks = Blocks.of(copyLines(this, { ...planWholeCopy(before), changeLine, more }));
    this.#index = this.#newIndex();
    this.onChange?.({ kind: "reloaded", before });
  }

  refresh(): LogChange | undefined {
    return undefined;
  }

  async pull(): Promise<void> {
    // No other process writes here.
  }

  async appendIfLeaf(line: LogLine, expectedLeafId: string | null): Promise<void> {
    const { tree, spans } = this.index;
    assertLeaf(tree, spans.allInFileOrder(tree.size), expectedLeafId);
    this.append([line]);
  }

  async *changes(): AsyncGenerator<void, void> {
    // No other process writes here.
  }

  upgrade(): undefined {
    return undefined;
  }

  async flush(): Promise<void> {
    // The data does not outlive the process, so there is nothing to wait for.
  }

  async close(): Promise<void> {
    this.release();
  }

  release(): void {
    this.#isClosed = true;
  }

  #newIndex(): SessionIndex {
    const index = new SessionIndex({ readBytes: (offset, length) => this.#blocks.read(offset, length) });
    feedWhole(index, this.#blocks.join());
    return index;
  }
}
