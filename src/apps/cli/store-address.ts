import { UsageError } from "./usage-error.ts";

/** Address of a database, and its form in output. */
export interface StoreAddress {
  /** As given, including any password. */
  readonly url: string;
  /** Without secrets, for output. */
  readonly shown: string;
}

/** Environment variable that specifies a database if neither `--store` nor `--dir` is given. */
export const STORE_VARIABLE = "SESSIONTREE_STORE";

/** Settings in an address that identify the sessions; all others belong to the driver and may be secrets. */
const SHOWN_SETTINGS = ["schema", "tenant"] as const;

/** Beginning of an SQLite file's address; followed by a path. */
const SQLITE = /^sqlite:/i;

/** Returns whether a string is intended as a database address. */
export function isStoreUrl(text: string): boolean {
  return SQLITE.test(text) || /^postgres(?:ql)?:\/\//i.test(text);
}

/** Returns the path in an address of an SQLite file; undefined for other addresses. */
export function findSqlitePath(url: string): string | undefined {
  return SQLITE.test(url) ? url.replace(SQLITE, "") : undefined;
}

/** Parses the address of a database from an option or variable; the error for an invalid address does not repeat it. */
export function parseStoreAddress(text: string, from: string): StoreAddress {
  if (findSqlitePath(text)) return { url: text, shown: text };
  if (findSqlitePath(text) === "" || !isStoreUrl(text) || !URL.canParse(text)) {
    throw new UsageError(
      `${from} must be an address such as sqlite:FILE or postgres://user@host/database; for a folder with session files, use --dir.`,
    );
  }
  return { url: text, shown: maskAddress(text) };
}

/** Removes the password and the settings. An `@` after the host means that the password was written with a `/` in it. */
function maskAddress(text: string): string {
  const { protocol, username, host, pathname, search, hash, searchParams } = new URL(text);
  if (/@|%40/i.test(`${pathname}${search}${hash}`)) return `${protocol}//…`;
  const settings = new URLSearchParams();
  for (const name of SHOWN_SETTINGS) {
    const value = searchParams.get(name);
    if (value !== null) settings.set(name, value);
  }
  const user = username === "" ? "" : `${username}@`;
  return `${protocol}//${user}${host}${pathname}${settings.size > 0 ? `?${settings}` : ""}`;
}

/** Removes passwords from all addresses in a string, including invalid addresses. */
export function withoutPasswords(text: string): string {
  return text
    .replace(/\b(postgres(?:ql)?:\/\/[^\s:@]*):\S*@/gi, "$1:…@")
    .replace(/([?&](?:ssl)?password=)[^&\s'"]*/gi, "$1…");
}
