/**
 * Makes all methods and getters of a class say what to do if `this` is not one of its objects.
 *
 * A proxy of an object, and an object made from it, have none of its private fields. The engine's own message names one
 * of those, which helps nobody.
 *
 * @param isOwn - Whether an object was made by the class.
 */
export function guardReceivers(
  prototype: object,
  isOwn: (receiver: unknown) => boolean,
  message: string,
): void {
  const guarded = <Result>(call: (this: unknown, ...args: never[]) => Result) =>
    function (this: unknown, ...args: never[]): Result {
      if (!isOwn(this)) throw new TypeError(message);
      return Reflect.apply(call, this, args);
    };
  for (const key of Reflect.ownKeys(prototype)) {
    const { get, value: call }: { get?: () => unknown; value?: unknown } =
      Object.getOwnPropertyDescriptor(prototype, key) ?? {};
    if (get !== undefined) Object.defineProperty(prototype, key, { get: guarded(get) });
    if (!isMethod(call) || key === "constructor") continue;
    const value = guarded(call);
    for (const name of ["name", "length"] as const)
      Object.defineProperty(value, name, { value: call[name], configurable: true });
    Object.defineProperty(prototype, key, { value });
  }
}

function isMethod(value: unknown): value is (this: unknown, ...args: never[]) => unknown {
  return typeof value === "function";
}
