import { hashSha256 } from "../../session/fs/digest.ts";

/** Maximum length of a name, in bytes. PostgreSQL truncates longer names, so that different names could become equal. */
const MAX_NAME_BYTES = 63;

/** Default schema. */
export const DEFAULT_SCHEMA = "sessiontree";

/** Connection setting that specifies the tenant. */
export const TENANT_SETTING = "sessiontree.tenant";

/** SQL expression for the connection's tenant; empty if no tenant is set. */
export const TENANT_SQL = `coalesce(current_setting('${TENANT_SETTING}', true), '')`;

/** Names of a store's database objects, quoted for statements. */
export interface Names {
  /** Unquoted name of the schema, for parameters. */
  readonly schema: string;
  readonly quotedSchema: string;
  readonly versions: string;
  readonly sessions: string;
  readonly lines: string;
  readonly deletedSessions: string;
  /** Function that adds lines to a session. */
  readonly addLines: string;
  /** Function that appends entries to a session. */
  readonly append: string;
  /** Trigger function that records deleted sessions. */
  readonly noteDeleted: string;
  /** Trigger function that sets the revision of a new session. */
  readonly setRevision: string;
  /** Function that finds lines by text, using the index despite row-level security. */
  readonly findLines: string;
  /** `findLines` with its argument types. */
  readonly findLinesSignature: string;
  /** Channel for notifications. Requires no quotes, so that all clients spell it the same way. */
  readonly channel: string;
}

/**
 * Returns the quoted names of a store's database objects.
 *
 * @param schema - Name of the schema. May contain any characters except NUL.
 * @throws {TypeError} If the name is empty, contains NUL, or is longer than 63 bytes.
 */
export function quoteNames(schema: string): Names {
  const bytes = Buffer.from(typeof schema === "string" ? schema : "");
  const isKept = bytes.toString() === schema && !schema.includes("\0");
  if (bytes.length === 0 || bytes.length > MAX_NAME_BYTES || !isKept) {
    throw new TypeError(`schema must be a name of 1 to ${MAX_NAME_BYTES} bytes without NUL; choose another.`);
  }
  const quotedSchema = quoteName(schema);
  const inSchema = (name: string) => `${quotedSchema}.${quoteName(name)}`;
  return {
    schema,
    quotedSchema,
    versions: inSchema("schema_version"),
    sessions: inSchema("sessions"),
    lines: inSchema("lines"),
    deletedSessions: inSchema("deleted_sessions"),
    noteDeleted: inSchema("note_deleted"),
    setRevision: inSchema("set_revision"),
    addLines: inSchema("add_lines"),
    append: inSchema("append_entries"),
    findLines: inSchema("find_lines"),
    findLinesSignature: `${inSchema("find_lines")}(json, text, text, bigint, integer)`,
    channel: `sessiontree_${hashSha256(schema).slice(0, 16)}`,
  };
}

/** Returns the key of an advisory lock in the database. */
export function lockKey(name: string): string {
  return BigInt.asIntN(64, BigInt(`0x${hashSha256(`sessiontree ${name}`).slice(0, 16)}`)).toString();
}

/** Quotes a string for a statement that does not accept parameters, such as a definition. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Quotes the body of a function, which may contain any text. */
export function quoteBody(body: string): string {
  let tag = "$body$";
  for (let i = 0; body.includes(tag); i++) tag = `$body${i}$`;
  return `${tag}${body}${tag}`;
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
