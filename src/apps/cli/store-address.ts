import { UsageError } from "./usage-error.ts";

/** Where a database is, and how output names it. */
export interface StoreAddress {
  /** As it was given: with the password, if there is one. */
  readonly url: string;
  /** Without anything that is nobody's business. */
  readonly shown: string;
}

/** The variable that names a database where neither `--store` nor `--dir` does. */
export const STORE_VARIABLE = "SESSIONTREE_STORE";

/** Parts of an address that say whose sessions are meant; every other one is the driver's, and may be a secret. */
const SHOWN_SETTINGS = ["schema", "tenant"] as const;

/** Beginning of an address of a file of SQLite; a path follows. */
const SQLITE = /^sqlite:/i;

/** Tells whether a text is meant as the address of a database. */
export function isStoreUrl(text: string): boolean {
  return SQLITE.test(text) || /^postgres(?:ql)?:\/\//i.test(text);
}

/** Returns the path in an address of a file of SQLite; undefined for other addresses. */
export function findSqlitePath(url: string): string | undefined {
  return SQLITE.test(url) ? url.replace(SQLITE, "") : undefined;
}

/** Reads the address of a database from an option or variable; the error for a text that is none does not repeat it. */
export function parseStoreAddress(text: string, from: string): StoreAddress {
  if (findSqlitePath(text)) return { url: text, shown: text };
  if (findSqlitePath(text) === "" || !isStoreUrl(text) || !URL.canParse(text)) {
    throw new UsageError(
      `${from} must be an address such as sqlite:FILE or postgres://user@host/database; a folder with session files is named by --dir.`,
    );
  }
  return { url: text, shown: maskAddress(text) };
}

/** Leaves out password and settings. An `@` behind the host says that a password was written with a `/` in it. */
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

/** Takes passwords out of all addresses in a text, also out of those that are none because of a mistake. */
export function withoutPasswords(text: string): string {
  return text
    .replace(/\b(postgres(?:ql)?:\/\/[^\s:@]*):\S*@/gi, "$1:…@")
    .replace(/([?&](?:ssl)?password=)[^&\s'"]*/gi, "$1…");
}
