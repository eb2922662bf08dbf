import { fieldsOf } from "../../context/entry-fields.ts";
import type { JsonRecord } from "../../schema/json.ts";
import { custom, type Draft, type SessionBuilder } from "../session-builder.ts";
import { leftOut } from "../source-text.ts";
import { textOf } from "../source-values.ts";
import type { Moment } from "./branches.ts";

/** What pi keeps of an operation while it runs, and of its result. */
const OF_OPERATIONS = /^pi\.(?:lane\.state|result|op\.|pending\.)/;

/** Input and output that waits to become an entry. */
const PENDING = /^pi\.pending\./;

/** A value, or a list, under a name. */
interface Stored extends Moment {
  readonly namespace: string;
  readonly key: string;
  readonly isList: boolean;
  /** The value alone, or the items. */
  readonly values: unknown[];
}

/** What an application stored beside the entries, and what pi did while it ran. */
export class Values {
  readonly #builder: SessionBuilder;
  readonly #stored = new Map<string, Stored>();
  /** Messages that wait for their turn, and operations that have not ended, in dialect A; by id. */
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  #steps = 0;
  #writes = 0;

  constructor(builder: SessionBuilder) {
    this.#builder = builder;
  }

  /** Takes a value or a list of dialect B. */
  take({ kind, namespace: space, key: name, op, value }: JsonRecord, moment: Moment): void {
    const [namespace, key] = [String(space), String(name)];
    const isStep = OF_OPERATIONS.test(namespace);
    const at = JSON.stringify([kind, namespace, key]);
    const before = this.#stored.get(at);
    if (isStep) this.#steps++;
    else this.#writes++;
    if (before !== undefined) this.#builder.withdraw(keyOf(before));
    if (op === "set" || op === "append") {
      const isList = op === "append";
      const values = isList && before !== undefined ? before.values : [];
      if (!isStep) values.push(value);
      this.#stored.set(at, { namespace, key, isList, values, ...moment });
    } else this.#stored.delete(at);
  }

  /** Takes what dialect A records of an operation. */
  takeRecord({ type, id, runId, entryId, target }: JsonRecord): void {
    this.#steps++;
    const targetId = textOf(fieldsOf(target)["id"]);
    if (type === "operation_started") this.#running.add(String(id));
    else if (type === "operation_finished") this.#running.delete(String(runId));
    else if (type === "queue_cancelled") this.#waiting.delete(String(entryId));
    else if (targetId !== undefined) this.#waiting.add(targetId);
  }

  /**
   * Adds the application's values, and reports what waited to become an entry.
   *
   * @param drafts - The entries of the session, by id.
   */
  emit(drafts: ReadonlyMap<string, Draft>): void {
    const builder = this.#builder;
    for (const stored of this.#stored.values()) {
      const { namespace, key, isList, values, time } = stored;
      if (PENDING.test(namespace)) this.#waiting.add(key);
      else if (namespace === "pi.op.meta") this.#running.add(key);
      else if (!OF_OPERATIONS.test(namespace)) {
        const body = isList
          ? custom("pi-v4.list", { namespace, key, values })
          : custom("pi-v4.value", { namespace, key, value: values[0] });
        builder.addBehind(keyOf(stored), time, body);
        builder.counts.kept += values.length;
        this.#writes -= values.length;
      }
    }
    for (const id of this.#waiting) {
      if (!drafts.has(id))
        builder.issues.push(leftOut(`Left out ${id}, which was being written or waited for its turn.`));
    }
    builder.drop("older value", this.#writes);
    builder.drop("running operation", this.#running.size);
    builder.drop("step of an operation", this.#steps - this.#running.size);
  }
}

function keyOf({ namespace, key, seq }: Stored): string {
  return `pi-v4 value ${namespace} ${key} ${String(seq)}`;
}
