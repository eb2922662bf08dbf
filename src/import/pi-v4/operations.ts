import { fieldsOf } from "../../context/entry-fields.ts";
import type { JsonRecord } from "../../schema/json.ts";
import type { Draft, SessionBuilder } from "../session-builder.ts";
import { leftOut } from "../source-text.ts";
import { textOf } from "../source-values.ts";

/** Names under which dialect B keeps what it does, and not what was said. */
const OF_OPERATIONS = /^pi\.(?:lane\.state|result|op\.|pending\.)/;

/** Operations of pi's harness, which mean nothing elsewhere: they are counted, and what waited in them is reported. */
export class Operations {
  /** Of operations that have not ended. */
  readonly #running = new Set<string>();
  /** Of what waits to become an entry, or is being written. */
  readonly #waiting = new Set<string>();
  #steps = 0;

  /** Takes a record of dialect A. */
  takeRecord({ type, id, runId, entryId, target }: JsonRecord): void {
    this.#steps++;
    const targetId = textOf(fieldsOf(target)["id"]);
    if (type === "operation_started") this.#running.add(String(id));
    else if (type === "operation_finished") this.#running.delete(String(runId));
    else if (type === "queue_cancelled") this.#waiting.delete(String(entryId));
    else if (targetId !== undefined) this.#waiting.add(targetId);
  }

  /** Takes a value or a list of dialect B; false if it is not of an operation. */
  takeValue({ namespace: space, key, op }: JsonRecord): boolean {
    const namespace = String(space);
    if (!OF_OPERATIONS.test(namespace)) return false;
    this.#steps++;
    const kept = namespace.startsWith("pi.pending.") ? this.#waiting : this.#running;
    if (op === "delete") kept.delete(String(key));
    else if (kept === this.#waiting || namespace === "pi.op.meta") kept.add(String(key));
    return true;
  }

  /**
   * Counts the operations, and reports what waited.
   *
   * @param drafts - The entries of the session, by id.
   */
  finish(drafts: ReadonlyMap<string, Draft>, builder: SessionBuilder): void {
    for (const id of this.#waiting) {
      if (!drafts.has(id))
        builder.issues.push(leftOut(`Left out ${id}, which was being written or waited for its turn.`));
    }
    builder.drop("running operation", this.#running.size);
    builder.drop("step of an operation", this.#steps - this.#running.size);
  }
}
