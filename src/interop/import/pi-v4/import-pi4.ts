import { toRecord } from "../../../core/context/entry-fields.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { isVersion4Header, VERSION_4_FORM } from "../../../core/jsonl/foreign-source.ts";
import { type EntryBody, makeCustom } from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import { type BuilderInput, type Draft, makeEntryId, SessionBuilder } from "../session-builder.ts";
import {
  makeIssue,
  makeLeftOutIssue,
  readRecords,
  type SourceRecord,
  type SourceText,
  toNonemptyText,
} from "../source-text.ts";
import { makeEntryBody } from "./entry-body.ts";
import { UsageRows } from "./usage-rows.ts";

/** A pi version 4 session, as returned by the importer's `read`. */
export interface Pi4Input extends SourceText, Omit<BuilderInput, "cwd"> {
  /** Session id to use if the file has no header. */
  readonly sourceId?: string;
}

/** Version that must be specified in a header. For dialect B, also the version of its storage. */
const VERSION = 4;
const STORAGE_VERSION = 1;

/**
 * Converts a session in pi's abandoned version 4 format, in either dialect.
 *
 * Entry ids are kept. Each branch ends with its settings and a `pi-v4.branch` entry that contains the branch's name. The leaf is
 * the end of `main` or, if that branch does not exist, of the branch that was written last. Records that pi would reject are
 * reported, and are read as far as possible.
 *
 * @returns The session; undefined if the file contains no entries.
 * @remarks Cost: O(records). Source: docs/import-records.md#version-4-of-pi
 */
export function importPi4(input: Pi4Input): ImportedSession | undefined {
  return input.records.some(({ value }) => value["kind"] === "entry")
    ? new Pi4Import(input).run()
    : undefined;
}

class Pi4Import {
  readonly #input: Pi4Input;
  readonly #dialect: Pi4Dialect;
  readonly #builder: SessionBuilder;
  readonly #branches: Branches;
  readonly #operations = new Operations();
  readonly #rows: UsageRows;
  /** Entries by source id. */
  readonly #drafts = new Map<string, Draft>();
  /** Parent of each entry in the source. */
  readonly #parents = new Map<Draft, Draft | undefined>();
  /** Time of the last record that has a time. */
  #time: unknown;
  #seq = 0;
  #isOrdered = true;

  constructor(input: Pi4Input) {
    const header = findHeader(input.records);
    const { id, createdAt, cwd, parentSessionId } = header?.value ?? {};
    this.#input = input;
    this.#dialect = detectDialect(input.records);
    this.#builder = new SessionBuilder(input, {
      source: "pi-v4",
      sourceId: toNonemptyText(id) ?? input.sourceId ?? "unknown",
      sourceVersion: `${VERSION}${this.#dialect}`,
      folders: [cwd],
      startedAt: createdAt,
      forkOf: toNonemptyText(parentSessionId),
      issues: input.issues,
    });
    this.#builder.counts.records = input.records.length;
    this.#time = createdAt;
    this.#branches = new Branches(this.#builder);
    this.#rows = new UsageRows(this.#builder, this.#drafts);
    if (header !== undefined) this.#takeHeader(header);
    if (this.#dialect === "A") this.#branches.set("main", { tip: null }, { seq: 0, time: createdAt });
  }

  run(): ImportedSession {
    const builder = this.#builder;
    for (const record of this.#input.records) this.#take(record);
    this.#rows.flush();
    this.#operations.finish(this.#drafts, builder);
    this.#branches.emit(this.#drafts);
    return builder.finish();
  }

  #takeHeader(record: SourceRecord): void {
    const { version, v = version, storageVersion = STORAGE_VERSION } = record.value;
    if (v !== VERSION || storageVersion !== STORAGE_VERSION) {
      const message = `The header states version ${toSafeString(v)}, storage ${toSafeString(storageVersion)}, which no version of pi wrote; it was read as version 4.`;
      this.#builder.issues.push(makeIssue("VERSION_UNCLEAR", message, record));
    }
    const { metadata, parentSessionId, legacyParentSessionPath } = record.value;
    const told = { metadata, parentSessionId, legacyParentSessionPath };
    if (Object.values(told).some((value) => value !== undefined))
      this.#builder.addBehind("pi-v4 header", undefined, makeCustom("pi-v4.header", told));
  }

  #take(record: SourceRecord): void {
    const { value } = record;
    const { kind } = value;
    if (kind === "header") return;
    this.#checkOrder(record);
    if (typeof value["timestamp"] === "number") this.#time = value["timestamp"];
    const moment = { seq: value["seq"], time: this.#time };
    switch (kind) {
      case "entry":
        this.#takeEntry(record);
        break;
      case "lane":
        this.#branches.set(toSafeString(value["lane"]), { tip: value["leafId"] }, moment);
        break;
      case "fact":
        if (value["fact"] === "name") this.#note(value, value["name"]);
        else this.#note(value, value["label"], value["targetId"]);
        break;
      case "usage":
        this.#rows.take(value, this.#time);
        break;
      case "record":
        if (value["type"] === "usage") this.#rows.take(value, this.#time);
        else this.#operations.takeRecord(value);
        break;
      case "value":
      case "list":
        this.#takeValue(value);
        break;
      default: {
        const message = `A record of the unknown kind ${JSON.stringify(kind)} was left out.`;
        this.#builder.issues.push(makeIssue("NOT_AN_ENTRY", message, record));
        this.#builder.drop("unknown record");
      }
    }
  }

  /**
   * Reports once that sequence numbers do not increase as required. In that case, two programs must have written to the file at
   * the same time.
   */
  #checkOrder(record: SourceRecord): void {
    const seq = Number(toSafeString(record.value["seq"]));
    // A lost line leaves a gap in the sequence numbers.
    const mayGap = this.#dialect === "B" || this.#input.issues.length > 0;
    const isNext = mayGap ? seq > this.#seq : seq === this.#seq + 1;
    this.#seq = seq;
    if (isNext || !this.#isOrdered) return;
    this.#isOrdered = false;
    const message = `Record ${toSafeString(record.value["seq"])} is out of order, so pi rejects the file; all records were imported.`;
    this.#builder.issues.push(makeIssue("SEQUENCE_BROKEN", message, record));
  }

  #takeEntry(record: SourceRecord): void {
    const { value } = record;
    const { parentId, lane, type, timestamp, seq } = value;
    const id = toNonemptyText(value["id"]);
    const parent = this.#findParent(record, parentId);
    if (id !== undefined && this.#drafts.has(id))
      this.#report("ID_DUPLICATE", `The id ${id} is already used; this entry gets a new one.`, record);
    this.#rows.flush(value);
    let body = makeEntryBody(value, parent, this.#parents);
    if (body === undefined) {
      this.#report(
        "NOT_AN_ENTRY",
        `Entry ${id} of type ${JSON.stringify(type)} was kept as a custom entry.`,
        record,
      );
      this.#builder.counts.kept++;
      body = makeCustom("pi-v4.entry", value);
    }
    const draft = this.#builder.add(`pi-v4 entry ${id} ${toSafeString(seq)}`, parent, timestamp, body, id);
    if (id !== undefined && !this.#drafts.has(id)) this.#drafts.set(id, draft);
    this.#parents.set(draft, parent);
    if (typeof lane === "string") this.#branches.set(lane, { tip: draft.id }, { seq, time: this.#time });
  }

  /** Finds the parent of an entry. If the parent was lost, the previous entry may replace it. */
  #findParent(record: SourceRecord, parentId: unknown): Draft | undefined {
    if (typeof parentId !== "string") return undefined;
    const found = this.#drafts.get(parentId);
    if (found !== undefined) return found;
    const missing = `Entry ${toSafeString(record.value["id"])} has the parent ${parentId}, which does not precede it`;
    if (this.#input.issues.length > 0 && this.#drafts.size > 0) {
      this.#report("PARENT_BRIDGED", `${missing}; it was attached to the entry before it.`, record);
      return this.#builder.tip;
    }
    this.#report("PARENT_MISSING", `${missing}; it begins a new conversation.`, record);
    return undefined;
  }

  #report(
    code: "PARENT_MISSING" | "PARENT_BRIDGED" | "ID_DUPLICATE" | "NOT_AN_ENTRY",
    message: string,
    record: SourceRecord,
  ): void {
    this.#builder.issues.push(makeIssue(code, message, record));
  }

  /** Reads a value or list from a dialect B file. */
  #takeValue(record: JsonRecord): void {
    const { namespace, op, seq, value } = record;
    const key = toSafeString(record["key"]);
    const set = op === "set" ? value : undefined;
    const moment = { seq, time: this.#time };
    if (namespace === "pi.branch.tip" && op !== "set") this.#branches.delete(key);
    else if (namespace === "pi.branch.tip") this.#branches.set(key, { tip: value }, moment);
    else if (namespace === "pi.lane.config") this.#branches.set(key, { config: set }, moment);
    else if (namespace === "pi.session.name") this.#note(record, set);
    else if (namespace === "pi.entry.label") this.#note(record, set, key);
    else if (!this.#operations.takeValue(record)) this.#keep(record);
  }

  /** Keeps data that an application stored in addition to the entries. */
  #keep({ kind, seq, ...write }: JsonRecord): void {
    this.#builder.keepBehind(
      `pi-v4 ${toSafeString(kind)} ${toSafeString(seq)}`,
      this.#time,
      toSafeString(kind),
      write,
    );
  }

  /** Adds a name, or an entry's label. Clears it if `text` is undefined. */
  #note({ seq }: JsonRecord, text: unknown, targetId?: unknown): void {
    const name = typeof text === "string" ? text : "";
    const body =
      targetId === undefined
        ? { type: "session_info", name }
        : { type: "label", targetId: toSafeString(targetId), label: name };
    this.#builder.addBehind(`pi-v4 note ${toSafeString(seq)}`, this.#time, body);
  }
}

/** Namespaces in which dialect B stores the state of operations rather than the conversation. */
const OF_OPERATIONS = /^pi\.(?:lane\.state|result|op\.|pending\.)/;

/**
 * Operations of pi's harness, which have no meaning elsewhere. They are counted, and entries still waiting in them are
 * reported.
 */
class Operations {
  /** Ids of operations that have not finished. */
  readonly #running = new Set<string>();
  /** Ids of entries that are queued or being written. */
  readonly #waiting = new Set<string>();
  #steps = 0;

  /** Reads a record in dialect A. */
  takeRecord({ type, id, runId, entryId, target }: JsonRecord): void {
    this.#steps++;
    const targetId = toNonemptyText(toRecord(target)["id"]);
    if (type === "operation_started") this.#running.add(toSafeString(id));
    else if (type === "operation_finished") this.#running.delete(toSafeString(runId));
    else if (type === "queue_cancelled") this.#waiting.delete(toSafeString(entryId));
    else if (targetId !== undefined) this.#waiting.add(targetId);
  }

  /** Reads a value or list from a dialect B file. Returns false if it does not belong to an operation. */
  takeValue({ namespace: space, key, op }: JsonRecord): boolean {
    const namespace = toSafeString(space);
    if (!OF_OPERATIONS.test(namespace)) return false;
    this.#steps++;
    const kept = namespace.startsWith("pi.pending.") ? this.#waiting : this.#running;
    if (op === "delete") kept.delete(toSafeString(key));
    else if (kept === this.#waiting || namespace === "pi.op.meta") kept.add(toSafeString(key));
    return true;
  }

  /** Counts the operations, and reports the entries that were waiting. */
  finish(drafts: ReadonlyMap<string, Draft>, builder: SessionBuilder): void {
    for (const id of this.#waiting) {
      if (!drafts.has(id))
        builder.issues.push(makeLeftOutIssue(`Left out ${id}, which was still queued or being written.`));
    }
    builder.drop("running operation", this.#running.size);
    builder.drop("step of an operation", this.#steps - this.#running.size);
  }
}

/**
 * `customType` of the entry that contains a branch's name, `{ name, leafId }`. If several entries have the same name, the last
 * one is used.
 */
const BRANCH_TYPE = "pi-v4.branch";

/** Name of pi's default branch. */
const MAIN = "main";

/** Position and time of a write to a branch. */
interface Moment {
  /** Sequence number of the record. */
  readonly seq: unknown;
  /** Unix milliseconds. */
  readonly time: unknown;
}

/** A branch: its tip, and the settings in effect there. */
interface Branch extends Moment {
  readonly tip?: unknown;
  readonly config?: unknown;
}

/** The named branches of a session, which are called "lanes" in dialect A. */
class Branches {
  /** Branches by name, in the order of their last writes. */
  readonly #branches = new Map<string, Branch>();
  readonly #builder: SessionBuilder;

  constructor(builder: SessionBuilder) {
    this.#builder = builder;
  }

  /** Changes the tip or the settings of a branch. Creates the branch if it is new. */
  set(name: string, change: Partial<Pick<Branch, "tip" | "config">>, moment: Moment): void {
    const before = this.#branches.get(name);
    this.delete(name);
    this.#branches.set(name, { ...before, ...change, ...moment });
  }

  delete(name: string): void {
    const branch = this.#branches.get(name);
    if (branch === undefined) return;
    // A shorter version of the file may have ended here.
    for (const { key } of makeBranchEntries(name, branch)) this.#builder.withdraw(makeEntryId(key));
    this.#branches.delete(name);
  }

  /**
   * Adds the settings and the name of each branch at its tip. The leaf is the tip of `main` or, if that branch does not exist, of
   * the branch that was written last.
   */
  emit(drafts: ReadonlyMap<string, Draft>): void {
    const main = this.#branches.get(MAIN);
    if (main !== undefined) {
      this.#branches.delete(MAIN);
      this.#branches.set(MAIN, main);
    }
    for (const [name, branch] of this.#branches) {
      // A branch without a tip has only settings.
      if (branch.tip === undefined) continue;
      const tip = toNonemptyText(branch.tip);
      let last = tip === undefined ? undefined : drafts.get(tip);
      if (tip !== undefined && last === undefined) {
        const message = `Branch ${JSON.stringify(name)} ends at ${tip}, which does not exist; its name was added at the beginning of the session.`;
        this.#builder.issues.push(makeIssue("PARENT_MISSING", message));
      }
      for (const { key, body } of makeBranchEntries(name, branch))
        last = this.#builder.add(key, last, branch.time, body);
    }
  }
}

/** Returns the entries for the name of a branch and the settings in effect at its tip, with their keys. */
function makeBranchEntries(name: string, { tip, config, seq }: Branch): { key: string; body: EntryBody }[] {
  const { model, thinkingLevel, activeToolNames } = toRecord(config);
  const { provider, modelId } = toRecord(model);
  const bodies: EntryBody[] = [];
  if (typeof provider === "string" && typeof modelId === "string")
    bodies.push({ type: "model_change", provider, modelId });
  if (typeof thinkingLevel === "string") bodies.push({ type: "thinking_level_change", thinkingLevel });
  if (Array.isArray(activeToolNames)) bodies.push({ type: "active_tools_change", activeToolNames });
  bodies.push(makeCustom(BRANCH_TYPE, { name, leafId: toNonemptyText(tip) ?? null }));
  return bodies.map((body) => ({ key: `pi-v4 ${body.type} ${name} ${toSafeString(seq)}`, body }));
}

/**
 * The two incompatible formats that pi called version 4. `A` (pi-agent-core 0.84) writes one change per line and calls its leaves
 * "lanes". `B` (0.85 to 0.99) writes one transaction per line and calls its leaves "branches".
 */
type Pi4Dialect = "A" | "B";

/** Kinds of records that only dialect B writes. */
const KINDS_OF_B: ReadonlySet<unknown> = new Set(["value", "list", "usage"]);

const LF = 0x0a;

/**
 * Parses a pi version 4 file in either dialect. Each write in a transaction is converted to a record.
 *
 * Ends where pi would. In dialect A, a last line without a line break is accepted if it is complete. In dialect B, it is never
 * accepted, because transactions are applied completely or not at all.
 *
 * @remarks Cost: O(input).
 */
export function readPi4Text(input: string | Uint8Array): SourceText {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  const text = readRecords(bytes, { ...VERSION_4_FORM, hasLists: true });
  const end = bytes.lastIndexOf(LF) + 1;
  const torn = text.records.find(({ offset }) => offset >= end);
  if (torn === undefined || detectDialect(text.records) === "A") return text;
  const isWhole = ({ offset }: { readonly offset: number }) => offset < end;
  const issue: SessionIssue = {
    code: "TAIL_TORN",
    line: torn.line,
    offset: end,
    length: bytes.length - end,
    message: "The last line has no line break, so its transaction was ignored.",
  };
  return { records: text.records.filter(isWhole), issues: [...text.issues.filter(isWhole), issue] };
}

/** Detects a file's dialect from its header, or from its other records if the header is missing. */
function detectDialect(records: readonly SourceRecord[]): Pi4Dialect {
  const header = findHeader(records);
  if (header !== undefined) return header.value["v"] === undefined ? "A" : "B";
  return records.some(({ value }) => KINDS_OF_B.has(value["kind"])) ? "B" : "A";
}

/** Returns the file's header; undefined if it has none. */
export function findHeader(records: readonly SourceRecord[]): SourceRecord | undefined {
  return records.find(({ value }) => isVersion4Header(value));
}
