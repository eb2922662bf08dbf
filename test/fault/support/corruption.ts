import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isSessionError, type SessionEntry, SessionManager } from "sessiontree";
import { seededRandom } from "../../../fixtures/support/seeded-random.ts";
import { BRANCHED, DAMAGED, VERSION_1 } from "./sessions.ts";

/** Small files are damaged thoroughly in little time. */
const MAX_FIXTURE_BYTES = 6_000;

const LF = 0x0a;

/** Texts that a damaged or hostile file might hold. */
const SNIPPETS = [
  "\n",
  "\r\n",
  "\0\0\0\0\0\0\0\0",
  "{",
  "}",
  '"',
  "\\",
  '{"type":"session"}',
  '\n{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}\n',
  '{"type":"message","id":"00000002","parentId":"00000002","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"snippet"}}',
  ',"timestamp":"2026-01-01T00:00:00.000Z"',
  '"parentId":null',
  '"__proto__":{"a":1},',
  "\ud83d",
  "\u2028",
  "99999999999999999999",
];

/** Kind of damage: makes new bytes of old ones. */
type Damage = (bytes: Buffer, random: Random) => Buffer;

/** Returns an integer from 0 up to, but excluding, `below`. */
type Random = (below: number) => number;

const splice = (bytes: Buffer, at: number, removed: number, ...added: Uint8Array[]) =>
  Buffer.concat([bytes.subarray(0, at), ...added, bytes.subarray(at + removed)]);

function range(bytes: Buffer, random: Random): { at: number; length: number } {
  const at = random(bytes.length + 1);
  return { at, length: random(Math.min(bytes.length - at, 1 + random(200)) + 1) };
}

/** Reorders, removes, or duplicates lines. */
function onLines(change: (lines: Buffer[], random: Random) => void): Damage {
  return (bytes, random) => {
    const lines: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(LF, at) + 1 || bytes.length;
      lines.push(bytes.subarray(at, end));
      at = end;
    }
    if (lines.length > 0) change(lines, random);
    return Buffer.concat(lines);
  };
}

const DAMAGES: readonly Damage[] = [
  // A bit, a byte.
  (bytes, random) => {
    const copy = Buffer.from(bytes);
    const at = random(copy.length);
    copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
    return copy;
  },
  (bytes, random) => splice(bytes, random(bytes.length), 1, Buffer.from([random(256)])),
  // A range: removed, zeroed, duplicated, moved.
  (bytes, random) => {
    const { at, length } = range(bytes, random);
    return splice(bytes, at, length);
  },
  (bytes, random) => {
    const { at, length } = range(bytes, random);
    return splice(bytes, at, length, Buffer.alloc(length));
  },
  (bytes, random) => {
    const { at, length } = range(bytes, random);
    return splice(bytes, random(bytes.length), 0, bytes.subarray(at, at + length));
  },
  (bytes, random) =>
    splice(
      bytes,
      random(bytes.length),
      0,
      Buffer.from(Array.from({ length: random(40) }, () => random(256))),
    ),
  // The end.
  (bytes, random) => bytes.subarray(0, random(bytes.length + 1)),
  (bytes, random) => Buffer.concat([bytes, Buffer.alloc(random(50))]),
  // A snippet.
  (bytes, random) =>
    splice(bytes, random(bytes.length), random(3), Buffer.from(SNIPPETS[random(SNIPPETS.length)] ?? "")),
  // A line break removed: two records on one line.
  (bytes, random) => {
    const at = bytes.indexOf(LF, random(bytes.length));
    return at === -1 ? bytes : splice(bytes, at, 1);
  },
  onLines((lines, random) => lines.splice(random(lines.length), 1)),
  onLines((lines, random) =>
    lines.splice(random(lines.length), 0, lines[random(lines.length)] ?? Buffer.alloc(0)),
  ),
  onLines((lines, random) => {
    const [line] = lines.splice(random(lines.length), 1);
    if (line !== undefined) lines.splice(random(lines.length + 1), 0, line);
  }),
];

/** Returns small session files of all kinds. */
export function smallFixtures(): readonly Buffer[] {
  const root = fileURLToPath(new URL("../../../fixtures/", import.meta.url));
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .sort();
  const files = paths.map((path) => readFileSync(join(root, path)));
  const own = [BRANCHED, VERSION_1, DAMAGED].map((text) => Buffer.from(text));
  return [...own, ...files.filter(({ length }) => length > 200 && length <= MAX_FIXTURE_BYTES)];
}

/** Damaged file, and its original. */
export interface Case {
  readonly seed: number;
  readonly original: Buffer;
  readonly damaged: Buffer;
}

/** Creates a case of a seed: the same in every run. */
export function makeCase(fixtures: readonly Buffer[], seed: number): Case {
  const next = seededRandom(seed);
  const random: Random = (below) => (below <= 0 ? 0 : Math.floor(next() * below));
  const original = fixtures[random(fixtures.length)] ?? Buffer.alloc(0);
  let damaged = original;
  for (let count = 1 + random(4); count > 0; count--) {
    damaged = DAMAGES[random(DAMAGES.length)]?.(damaged, random) ?? damaged;
  }
  return { seed, original, damaged };
}

/** Result of a case. */
export interface Outcome {
  /** Number of reported issues. */
  readonly issues: number;
  /** Whether the file was rejected as not a session. */
  readonly isRefused: boolean;
  /** Violations, in words. */
  readonly faults: readonly string[];
}

/**
 * Opens a damaged file, reads everything, appends, and reads again; returns the violations.
 *
 * @param folder - Empty, and empty again afterward.
 */
export function judge({ original, damaged }: Case, folder: string): Outcome {
  const path = join(folder, "s.jsonl");
  writeFileSync(path, damaged);
  const faults: string[] = [];
  let issues = 0;
  let isRefused = false;
  try {
    const before = statSync(path, { bigint: true });
    const session = SessionManager.open(path);
    const entries = readEverything(session);
    issues = session.issues.length;
    if (damaged.length > 0) assertUntouched(path, before, damaged, faults);
    const lines = undamagedLines(original, damaged);
    for (const line of lines) assertThere(line, session, entries, faults);
    grow(session, path, new Set(lines.map(({ record }) => idAndSignature(record["id"], record))), faults);
  } catch (error) {
    isRefused = isSessionError(error, "NOT_A_SESSION");
    if (!isRefused) faults.push(`threw ${error instanceof Error ? error.stack : String(error)}`);
    else if (!readFileSync(path).equals(damaged)) faults.push("a file that was refused was changed");
  }
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  return { issues, isRefused, faults };
}

/** Reads everything from a session. */
function readEverything(session: SessionManager): SessionEntry[] {
  const entries = session.getEntries();
  session.getTree();
  session.getSessionName();
  const leafId = session.getLeafId();
  for (const { id } of session.getLeaves()) {
    session.getLabel(id);
    session.branch(id);
    session.buildSessionContext();
  }
  if (leafId === null) session.resetLeaf();
  else session.branch(leafId);
  session.buildSessionContext();
  return entries;
}

function assertUntouched(path: string, before: object, damaged: Buffer, faults: string[]): void {
  const times = (stats: object) =>
    JSON.stringify([Reflect.get(stats, "mtimeNs"), Reflect.get(stats, "ctimeNs")].map(String));
  if (times(statSync(path, { bigint: true })) !== times(before))
    faults.push("looking changed the file's times");
  if (!readFileSync(path).equals(damaged)) faults.push("looking changed the file");
}

/** Unchanged line of a damaged file, with its 1-based number. */
interface UndamagedLine {
  readonly number: number;
  readonly record: { readonly [field: string]: unknown };
}

/** Returns the records of entries on undamaged lines. */
function undamagedLines(original: Buffer, damaged: Buffer): UndamagedLine[] {
  const known = new Set(original.toString("latin1").split("\n"));
  const texts = damaged.toString("latin1").split("\n");
  return texts.flatMap((text, i) => {
    const record = known.has(text) ? parseRecord(Buffer.from(text, "latin1").toString()) : undefined;
    return record === undefined || record["type"] === "session" ? [] : [{ number: i + 1, record }];
  });
}

/** Parses a record that has a type; undefined if it is not one. */
function parseRecord(text: string): { [field: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isRecord =
      typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
    return isRecord ? { ...value } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns the parts of an entry that identify it, whatever became of its id and its parent. */
function signature(record: { readonly [field: string]: unknown }): string {
  const { type, message, summary, name, label, data, content, customType, modelId } = record;
  const text = message !== null && typeof message === "object" ? Reflect.get(message, "content") : message;
  return JSON.stringify([type, text, summary, name, label, data, content, customType, modelId]);
}

/** Returns the parts of a line that identify it; lines without an id are identified by their content alone. */
function idAndSignature(id: unknown, record: { readonly [field: string]: unknown }): string {
  return `${id} ${signature(record)}`;
}

/** Checks that an undamaged line is an entry, unless it precedes the header, or is a repetition. */
function assertThere(
  { number, record }: UndamagedLine,
  session: SessionManager,
  entries: readonly SessionEntry[],
  faults: string[],
): void {
  const wanted = signature(record);
  if (entries.some((entry) => signature({ ...entry }) === wanted)) return;
  const isTold = session.issues.some(
    ({ code, line }) =>
      line === number && /^(?:RECORD_BEFORE_HEADER|ENTRY_REPEATED|BODY_DAMAGED)$/.test(code),
  );
  if (!isTold) faults.push(`lost line ${number}: ${wanted.slice(0, 200)}`);
}

/**
 * Appends to a session and opens it again: everything exists, and so does the new entry.
 *
 * @param undamaged - Ids and signatures of the entries whose lines are undamaged. The others may yield less once their end is
 *   written.
 */
function grow(session: SessionManager, path: string, undamaged: ReadonlySet<string>, faults: string[]): void {
  const isUndamaged = (entry: SessionEntry) =>
    undamaged.has(idAndSignature(entry.id, { ...entry })) ||
    undamaged.has(idAndSignature(undefined, { ...entry }));
  const before = session.getEntries().filter(isUndamaged);
  const leaf = session.getLeafEntry();
  let id: string;
  try {
    id = session.appendMessage({ role: "user", content: "after the damage", timestamp: 0 });
  } catch (error) {
    // Too little is left of some files to distinguish them from another program's.
    const isForeign = session.issues.some(({ code }) => code === "FOREIGN_FORMAT");
    if (isSessionError(error, "VERSION_TOO_NEW") || (isForeign && isSessionError(error, "READ_ONLY"))) return;
    throw error;
  }
  const reopened = SessionManager.open(path);
  const there = new Map(reopened.getEntries().map((entry) => [entry.id, entry]));
  const parent = there.get(id)?.parentId;
  if (parent === undefined) faults.push("the new entry is lost");
  const isUnderLeaf = parent === (leaf?.id ?? null);
  // Another line of the same id, which is reported, may become the parent of later entries.
  const isTold = reopened.issues.some(
    ({ code, message }) => code === "ID_DUPLICATE" && leaf !== undefined && message.includes(leaf.id),
  );
  if (!isUnderLeaf && !isTold && (leaf === undefined || before.includes(leaf))) {
    faults.push("the new entry hangs elsewhere");
  }
  if (reopened.getLeafId() !== id) faults.push("the new entry is not the leaf");
  for (const entry of before) {
    const now = there.get(entry.id);
    if (now === undefined) faults.push(`entry ${entry.id} was lost by an append`);
    // A damaged body is kept as text when the file is written anew.
    else if (isWhole(entry) && isWhole(now) && signature({ ...now }) !== signature({ ...entry }))
      faults.push(`entry ${entry.id} was changed by an append`);
  }
}

/** Whether an entry's body could be read. */
function isWhole({ type }: { readonly type: string }): boolean {
  return type !== "damaged" && type !== "custom";
}
