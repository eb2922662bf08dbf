import { type Fields, type Finding, isUsual, type ReferenceLine, referenceLines } from "./reference-lines.ts";

/** Entry as a reader that parses everything finds it. */
export interface ReferenceEntry {
  readonly type: string;
  /** Id; `#n` if the file has none, or one that exists. */
  id: string;
  parentId: string | null;
  readonly line: number;
  readonly isDamaged: boolean;
}

/** Session file, read by the simplest implementation of the rules of reading. */
export interface ReferenceSession {
  readonly headerId: string | undefined;
  readonly version: number;
  readonly entries: readonly ReferenceEntry[];
  readonly leafId: string | null;
  /** Issues about ids and parents, as `CODE line`. */
  readonly links: readonly string[];
  /** Lines that are not the header or valid entries. */
  readonly oddLines: readonly number[];
}

/** Entry before it is part of the tree. */
interface Draft extends ReferenceEntry {
  readonly stated: string | undefined;
  readonly fields: Fields;
  readonly text: string;
  /** Number of its parent, if known. */
  parent: number | null;
  /** Whether damage is between this entry and the previous one. */
  readonly isBehindDamage: boolean;
}

interface Placed {
  readonly finding: Finding;
  readonly line: number;
}

/**
 * Reads a session file by the rules of docs/format.md, step by step and regardless of cost: the specification of every other
 * reader.
 */
export function readPlainly(bytes: Uint8Array): ReferenceSession {
  const written = referenceLines(bytes);
  const links: string[] = [];
  const first = placedOn(written)
    .filter(({ finding }) => finding.kind !== "damage" || finding.countsAs > 0)
    .slice(0, 16)
    .find(({ finding }) => isOfType(finding, "session"));
  const header = first?.finding.kind === "record" ? first.finding.fields : undefined;
  const headerId = header?.["id"];
  if (header === undefined || first === undefined || typeof headerId !== "string") {
    const oddLines = written.map(({ line }) => line);
    return { headerId: undefined, version: 3, entries: [], leafId: null, links, oddLines };
  }
  const stated = statedVersion(header["version"]);
  const lines: ReferenceLine[] = [];
  for (const one of written) {
    // The classification of an earlier line counts, not its content.
    const before = lines.filter(({ line }) => line > first.line).flatMap(({ findings }) => findings);
    const isTree = one.line > first.line && (stated.version ?? (before.some(statedId) ? 3 : 1)) >= 2;
    const isMixed = before.some(isOddlySpelled);
    const isOne = isTree && one.asOne !== undefined && (!isMixed || one.isOneInAnySpelling);
    lines.push(isOne && one.asOne ? { ...one, findings: [one.asOne] } : one);
  }
  const placed = placedOn(lines);
  const odd = new Set(lines.filter(isOdd).map(({ line }) => line));
  const behind = placed.slice(placed.findIndex(({ finding }) => finding === first.finding) + 1);
  for (const { line } of placed.slice(0, placed.length - behind.length - 1)) odd.add(line);
  for (const { finding, line } of behind) if (isOfType(finding, "session")) odd.add(line);
  if (stated.isOdd) odd.add(first.line);
  const hasIds = behind.some(({ finding }) => statedId(finding) !== undefined);
  const version = stated.version ?? (hasIds ? 3 : behind.some(isEntry) ? 1 : 3);
  const entries = namedEntries(behind, version, links, odd);
  findParents(entries, version, stated.version === undefined, links);
  breakCycles(entries, links);
  for (const entry of entries)
    entry.parentId = entry.parent === null ? null : (entries[entry.parent]?.id ?? null);
  for (const link of links) odd.add(Number(link.split(" ")[1]));
  return {
    headerId,
    version,
    entries: entries.map(({ type, id, parentId, line, isDamaged }) => ({
      type,
      id,
      parentId,
      line,
      isDamaged,
    })),
    leafId: findLeaf(entries, lines),
    links,
    oddLines: [...odd].sort((a, b) => a - b),
  };
}

function placedOn(lines: readonly ReferenceLine[]): Placed[] {
  return lines.flatMap(({ findings, line }) => findings.map((finding) => ({ finding, line })));
}

function isOdd({ findings, isTorn }: ReferenceLine): boolean {
  return isTorn || findings.length !== 1 || findings[0]?.kind !== "record" || isBodiless(findings[0]);
}

/** Returns whether an entry is a message entry without a valid message: it has a head and a damaged body. */
function isBodiless(finding: Finding): boolean {
  if (finding.kind !== "record" || finding.fields["type"] !== "message") return false;
  const message = finding.fields["message"];
  const isObject = typeof message === "object" && message !== null && !Array.isArray(message);
  return !isObject || !("role" in message) || typeof message.role !== "string";
}

function isOddlySpelled(finding: Finding): boolean {
  return finding.kind === "record" && !isOfType(finding, "session") && !isUsual(finding.text);
}

function isOfType(finding: Finding, type: string): boolean {
  return finding.kind === "record" && finding.fields["type"] === type;
}

function isEntry({ finding }: Placed): boolean {
  return (finding.kind === "record" || finding.kind === "head") && !isOfType(finding, "session");
}

function statedId(finding: Finding): string | undefined {
  if ((finding.kind !== "record" && finding.kind !== "head") || isOfType(finding, "session"))
    return undefined;
  const id = finding.fields["id"];
  return typeof id === "string" && id !== "" ? id : undefined;
}

function statedVersion(version: unknown): { version: number | undefined; isOdd: boolean } {
  if (version === undefined) return { version: 1, isOdd: false };
  const number = typeof version === "string" && /^\d+$/.test(version) ? Number(version) : version;
  if (typeof number !== "number" || number < 1) return { version: undefined, isOdd: true };
  if (number > 3) return { version: number, isOdd: true };
  return Number.isInteger(number) ? { version: number, isOdd: false } : { version: undefined, isOdd: true };
}

/** Assigns the ids of entries, and omits repeated lines. */
function namedEntries(
  behind: readonly Placed[],
  version: number,
  links: string[],
  odd: Set<number>,
): Draft[] {
  const entries: Draft[] = [];
  let isBehindDamage = false;
  for (const { finding, line } of behind) {
    if (finding.kind === "damage" || finding.kind === "value") isBehindDamage = true;
    if (finding.kind !== "record" && finding.kind !== "head") continue;
    const { fields, text } = finding;
    const type = String(fields["type"]);
    if (type === "session") continue;
    const stated = statedId(finding);
    if (entries.some((one) => stated !== undefined && one.stated === stated && one.text === text)) {
      links.push(`ENTRY_REPEATED ${line}`);
      continue;
    }
    const isTaken = entries.some((one) => one.id === stated);
    if (isTaken) links.push(`ID_DUPLICATE ${line}`);
    if (stated === undefined && version >= 2) links.push(`ID_INVENTED ${line}`);
    const isDamaged = finding.kind === "head" || isBodiless(finding);
    if (isDamaged) odd.add(line);
    entries.push({
      type,
      id: stated === undefined || isTaken ? `#${entries.length}` : stated,
      parentId: null,
      line,
      isDamaged,
      stated,
      fields,
      text,
      parent: null,
      isBehindDamage,
    });
    isBehindDamage = false;
  }
  return entries;
}

function findParents(entries: Draft[], version: number, isUnclear: boolean, links: string[]): void {
  const hasKeys = entries.some(({ fields }) => Object.hasOwn(fields, "parentId"));
  // Before the first id nothing distinguishes a tree from a list, unless the header does.
  const listEnd = isUnclear ? entries.findIndex(({ stated }) => stated !== undefined) : 0;
  for (const [i, entry] of entries.entries()) {
    const { fields, stated } = entry;
    const previous = i === 0 ? null : i - 1;
    const hasKey = Object.hasOwn(fields, "parentId");
    const isLinear =
      version === 1 || i < listEnd || (stated === undefined && !hasKey) || (!hasKey && !hasKeys);
    if (isLinear) {
      entry.parent = previous;
      if (version > 1 && i >= listEnd && stated !== undefined && previous !== null)
        links.push(`PARENT_BRIDGED ${entry.line}`);
      continue;
    }
    const parentId = fields["parentId"];
    if (parentId === null || parentId === undefined) continue;
    entry.parent = typeof parentId === "string" ? findEntry(entries, i, parentId) : null;
    if (entry.parent !== null) continue;
    const isBridged = entry.isBehindDamage && previous !== null;
    entry.parent = isBridged ? previous : null;
    links.push(`${isBridged ? "PARENT_BRIDGED" : "PARENT_MISSING"} ${entry.line}`);
  }
}

/** Finds the nearest preceding entry with the id; if there is none, the first one from here on. */
function findEntry(entries: readonly Draft[], i: number, id: string): number | null {
  for (let at = i - 1; at >= 0; at--) if (entries[at]?.stated === id) return at;
  const later = entries.findIndex((one, at) => at >= i && one.stated === id);
  return later === -1 ? null : later;
}

/** Makes the first entry of each cycle a root. */
function breakCycles(entries: Draft[], links: string[]): void {
  for (const [i, entry] of entries.entries()) {
    let at = entry.parent;
    for (let steps = 0; at !== null && at !== i && steps < entries.length; steps++)
      at = entries[at]?.parent ?? null;
    if (at !== i) continue;
    entry.parent = null;
    links.push(`PARENT_CYCLE ${entry.line}`);
  }
}

/** Returns the last entry, unless the last line is a leaf record. */
function findLeaf(entries: readonly Draft[], lines: readonly ReferenceLine[]): string | null {
  const last = lines.flatMap(({ findings }) => findings).at(-1);
  const targetId =
    last?.kind === "record" && last.fields["type"] === "leaf" ? last.fields["targetId"] : undefined;
  const target = entries.find(({ id }) => id === targetId);
  return target?.id ?? entries.at(-1)?.id ?? null;
}
