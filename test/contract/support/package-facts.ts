/** Unchecked object from JSON. */
export type Facts = { readonly [key: string]: unknown };

/** Returns whether a value from JSON is an object. */
function isFacts(value: unknown): value is Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a member of an object that is an object itself; `{}` if there is none. */
export function member(facts: Facts, key: string): Facts {
  const value = facts[key];
  return isFacts(value) ? value : {};
}

/** Parses the text of a JSON file that must be an object. */
export function parseFacts(text: string): Facts {
  const value: unknown = JSON.parse(text);
  if (!isFacts(value)) throw new Error("The file holds no JSON object.");
  return value;
}

/**
 * Checks a package-lock.json: no addresses, and a record of every package for every platform, without which `npm ci` rejects
 * the file.
 */
export function checkLock(text: string): string[] {
  const faults: string[] = [];
  const packages = member(parseFacts(text), "packages");
  for (const [path, record] of Object.entries(packages)) {
    if (!isFacts(record)) continue;
    if ("resolved" in record) faults.push(`${path} has a resolved address`);
    for (const name of Object.keys(member(record, "optionalDependencies"))) {
      const below = [`${path}/node_modules/${name}`, `node_modules/${name}`];
      if (!below.some((place) => place in packages))
        faults.push(`${path} needs ${name}, which has no record`);
    }
  }
  return faults;
}

const ADDRESSES = /\bregistry\.[a-z0-9.-]+\.[a-z]{2,}|\bnpmmirror\b|_authToken\b/gi;

/**
 * Lists traces in a file of the machine on which it was written.
 *
 * @param path - File, for the report.
 * @param text - Its content.
 * @param places - Folders of the machine, such as that of the checkout.
 */
export function findMachineTraces(path: string, text: string, places: readonly string[]): string[] {
  return text.split("\n").flatMap((line, index) => {
    const traces = [...(line.match(ADDRESSES) ?? []), ...places.filter((place) => line.includes(place))];
    return traces.map((trace) => `${path}:${index + 1} names ${trace}`);
  });
}
