import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { toArray } from "../../../core/context/entry-fields.ts";
import { isSessionError } from "../../../core/format/errors.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { copyMessage, isMessageInstance, isMessageUnchanged } from "./message-copies.ts";
import { type ListedMessage, readMessage, readMessageList } from "./message-entries.ts";
import { dumpValue, loadValue, makeValueError, type StoredValue } from "./stored-value.ts";

/** Serialized value of a channel. For a list of messages, there is one item per message. */
export type DumpedValue = StoredValue | { readonly messages: readonly ListedMessage[] };

/**
 * Cache of serialized forms of a caller's message instances, and of instances of stored messages.
 *
 * A run passes the same instances with each checkpoint, so only new and changed instances are serialized. Instances are never
 * shared with the caller. The cache keeps a copy of each instance to detect changes by the caller.
 */
export class MessageCache {
  readonly #serde: SerializerProtocol;
  readonly #dumped = new WeakMap<JsonRecord, { readonly listed: ListedMessage; readonly copy: JsonRecord }>();
  readonly #loaded = new WeakMap<ListedMessage, JsonRecord>();

  /**
   * @param serde - LangGraph's serializer, which produces message records in JSON.
   */
  constructor(serde: SerializerProtocol) {
    this.#serde = serde;
  }

  /**
   * Serializes a channel's value as it is at the time of this call.
   *
   * @param what - Name of the value for error messages.
   * @throws {SessionError} The same errors as `dumpValue`.
   */
  async dump(value: unknown, what: string): Promise<DumpedValue> {
    try {
      return await (isInstances(value) ? this.#dumpInstances(value, what) : this.#dumpOther(value, what));
    } catch (cause) {
      throw isSessionError(cause) ? cause : makeValueError(what, cause);
    }
  }

  async #dumpOther(value: unknown, what: string): Promise<DumpedValue> {
    const stored = await dumpValue(this.#serde, value, what);
    const messages = "json" in stored ? readMessageList(stored.json) : undefined;
    return messages === undefined ? stored : { messages };
  }

  async #dumpInstances(instances: readonly JsonRecord[], what: string): Promise<DumpedValue> {
    const known = instances.map((instance) => this.#find(instance));
    const added = instances.filter((_, at) => known[at] === undefined);
    if (added.length === 0) return { messages: known.flatMap((listed) => listed ?? []) };
    // Both are snapshots of the instances as they are now.
    const copies = added.map(copyMessage);
    const stored = await dumpValue(this.#serde, added, what);
    const records = "json" in stored ? toArray(stored.json) : [];
    let next = 0;
    const listed = instances.map((instance, at) => {
      const message = known[at] ?? readMessage(records[next]);
      if (known[at] === undefined) this.#note(instance, message, copies[next++]);
      return message;
    });
    if (listed.every((message) => message !== undefined)) return { messages: listed };
    next = 0;
    return { json: known.map((message) => (message === undefined ? records[next++] : message.record)) };
  }

  #find(instance: JsonRecord): ListedMessage | undefined {
    const dumped = this.#dumped.get(instance);
    return dumped !== undefined && isMessageUnchanged(instance, dumped.copy) ? dumped.listed : undefined;
  }

  #note(instance: unknown, listed: ListedMessage | undefined, copy: JsonRecord | undefined): void {
    if (listed !== undefined && copy !== undefined && isJsonRecord(instance))
      this.#dumped.set(instance, { listed, copy });
  }

  /** Returns new instances of messages. */
  async load(messages: readonly ListedMessage[]): Promise<unknown[]> {
    const known = messages.map((listed) => this.#loaded.get(listed));
    const added = messages.filter((_, at) => known[at] === undefined).map(({ record }) => record);
    const instances = added.length === 0 ? [] : toArray(await loadValue(this.#serde, { json: added }));
    let next = 0;
    return messages.map((listed, at) => {
      const kept = known[at];
      const instance = kept === undefined ? instances[next++] : copyMessage(kept);
      const copy = kept ?? (isMessageInstance(instance) ? copyMessage(instance) : undefined);
      if (copy !== undefined) this.#loaded.set(listed, copy);
      this.#note(instance, listed, copy);
      return instance;
    });
  }
}

/** Returns whether a value is an array of message instances that would be serialized as messages. */
function isInstances(value: unknown): value is readonly JsonRecord[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  if (Object.getPrototypeOf(value) !== Array.prototype || "toJSON" in value) return false;
  for (let at = 0; at < value.length; at++) if (!isMessageInstance(value[at])) return false;
  return true;
}
