const NAME = "search";

/** Returns the query in the part of an address starting with `#`; empty if there is none. */
export function readAddressQuery(hash: string): string {
  return new URLSearchParams(hash.slice(1)).get(NAME) ?? "";
}

/** Replaces the query in an address, or in the part starting with `#`; an empty query removes it. */
export function withQuery(address: string, query: string): string {
  const [page = "", hash = ""] = address.split("#");
  const parts = new URLSearchParams(hash);
  if (query === "") parts.delete(NAME);
  else parts.set(NAME, query);
  return parts.size === 0 ? page : `${page}#${parts}`;
}
