/**
 * Creates a function that remembers its latest results for each first argument, which it holds weakly: a view that is hidden and
 * shown again, and the parts of the page that one keystroke draws, ask for the same results.
 *
 * @param max - Maximum number of results for each first argument; the oldest is forgotten.
 */
export function rememberLatest<Owner extends object, Args extends readonly unknown[], Result>(
  compute: (owner: Owner, ...args: Args) => Result,
  max: number,
): (owner: Owner, ...args: Args) => Result {
  const latest = new WeakMap<Owner, { readonly args: Args; readonly result: Result }[]>();
  return (owner, ...args) => {
    const known = latest.get(owner) ?? [];
    latest.set(owner, known);
    const at = known.findIndex((one) => one.args.every((arg, index) => Object.is(arg, args[index])));
    const [found = { args, result: compute(owner, ...args) }] = at === -1 ? [] : known.splice(at, 1);
    known.push(found);
    if (known.length > max) known.shift();
    return found.result;
  };
}
