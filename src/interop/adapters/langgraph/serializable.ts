/** Levels that a value may be nested: LangGraph's serializer reads back some thousands, depending on the stack. */
const MAX_DEPTH = 1_000;

/**
 * Checks what JSON would leave out silently, and finds bytes.
 *
 * @returns The buffers in the value, which JSON would turn to plain objects.
 * @throws {TypeError} With the path of a function, a symbol, or what is nested too deep; also for a cycle and a BigInt.
 */
export function findBuffers(value: unknown): Buffer[] {
  const buffers: Buffer[] = [];
  const depths = new WeakMap<object, number>();
  JSON.stringify({ value }, function (this: Record<string, unknown>, key: string, made: unknown) {
    const given = this[key];
    if (typeof made === "function" || typeof made === "symbol")
      throw new TypeError(`${key || "the value"} is a ${typeof made}`);
    if (given instanceof Uint8Array) {
      if (Buffer.isBuffer(given)) buffers.push(given);
      return null;
    }
    if (typeof made !== "object" || made === null) return made;
    const depth = (depths.get(this) ?? -1) + 1;
    if (depth > MAX_DEPTH) throw new TypeError(`it is nested deeper than ${MAX_DEPTH} levels`);
    const parts = made instanceof Map || made instanceof Set ? [...made] : made;
    depths.set(parts, depth);
    return parts;
  });
  return buffers;
}

/** Calls while buffers are bytes like any others to a serializer, and not what their `toJSON` makes. */
export function withPlainBytes<T>(buffers: readonly Buffer[], call: () => T): T {
  for (const buffer of buffers)
    Object.defineProperty(buffer, "toJSON", { value: undefined, configurable: true });
  try {
    return call();
  } finally {
    for (const buffer of buffers) Reflect.deleteProperty(buffer, "toJSON");
  }
}
