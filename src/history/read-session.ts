import { dirname } from "node:path";
import { type Dollars, dollarsWhenCopied, inheritedDollarsIn } from "../import/claude-code/cost-state.ts";
import { importClaudeCode } from "../import/claude-code/import-claude-code.ts";
import { importCodex } from "../import/codex/import-codex.ts";
import { readOldCodexText } from "../import/codex/rollout.ts";
import { importGemini, readGeminiText } from "../import/gemini/import-gemini.ts";
import type { ImportedSession } from "../import/imported-session.ts";
import { importMessages } from "../import/messages/import-messages.ts";
import { importPi4 } from "../import/pi-v4/import-pi4.ts";
import { readPi4Text } from "../import/pi-v4/read-pi4.ts";
import { leftOut, readSourceText, type SourceRecord } from "../import/source-text.ts";
import { textOf } from "../import/source-values.ts";
import { parseJson } from "../jsonl/decode.ts";
import { fileError } from "../log/file-errors.ts";
import type { UnknownEntry } from "../schema/entry.ts";
import { SessionError } from "../schema/errors.ts";
import type { SessionIssue } from "../schema/issue.ts";
import { cwdOfClaudeFolder } from "./project-folders.ts";
import { SideFiles } from "./side-files.ts";
import { readSource, readSourceAsText, readSourcePieces } from "./source-file.ts";
import type { KnownFile, SourceSession } from "./source-session.ts";

/** Options to read the files of a session. */
export interface ReadOptions {
  /** ISO 8601. */
  readonly importedAt: string;
  /** Working directories that Claude Code knows. */
  readonly claudeProjects: readonly string[];
  /** Start of the session at its first import, ISO 8601; used for records without a time. */
  readonly begunAt: string | undefined;
  /** Entries of the session here, with the bodies of custom entries only; none if it is new. */
  readonly known: readonly UnknownEntry[];
  /** Id of the session here, unless it is the one made from its id there. */
  readonly ownId: string | undefined;
}

/**
 * Converts the files of another program's session to sessions: its own, and those of its subagents.
 *
 * @returns The main session first; none if the files hold no conversation.
 */
export function readSourceSession(session: SourceSession, options: ReadOptions): ImportedSession[] {
  const [main, ...others] = readFiles(session, options);
  if (main === undefined) return [];
  const issues = session.copies.flatMap((copy) => leftOutOf(copy, session));
  return [issues.length === 0 ? main : { ...main, issues: [...main.issues, ...issues] }, ...others];
}

/** Returns an issue if a copy of a session holds what the session does not. */
function leftOutOf({ path, facts }: KnownFile, { source, files }: SourceSession): SessionIssue[] {
  const lost =
    source === "claude-code"
      ? missingUuids(
          path,
          files.map((file) => file.path),
        )
      : undefined;
  if (lost === 0) return [];
  const what = lost === undefined ? path : `${lost} ${lost === 1 ? "record" : "records"} of ${path}`;
  return [
    leftOut(`Left out ${what}: it has the id ${facts.sessionId}, too, and is not the largest file that has.`),
  ];
}

function readFiles(session: SourceSession, options: ReadOptions): ImportedSession[] {
  switch (session.source) {
    case "claude-code":
      return readClaudeCode(session, options);
    case "codex":
      return readCodex(session, options);
    case "gemini":
      return readGemini(session, options);
    case "messages":
      return readMessages(session, options);
    case "pi-v4":
      return readPi4(session, options);
    default:
      return session.source satisfies never;
  }
}

function textOfFile({ path }: KnownFile) {
  return { path, ...readSourceText(readSourcePieces(path)) };
}

function textOfRollout(file: KnownFile) {
  const { path } = file;
  const old = path.endsWith(".json") ? readOldCodexText(readSourceAsText(path)) : undefined;
  return old === undefined ? textOfFile(file) : { path, ...old };
}

function readClaudeCode(session: SourceSession, options: ReadOptions): ImportedSession[] {
  const { files, sourceId } = session;
  const mainFile = files.find(({ facts }) => facts.agentId === undefined);
  const main = mainFile === undefined ? { records: [], issues: [] } : textOfFile(mainFile);
  const subagents = files.flatMap((file) => {
    const { agentId } = file.facts;
    if (agentId === undefined) return [];
    const issues: SessionIssue[] = [];
    const beside = new SideFiles((path, error) =>
      issues.push(leftOut(fileError(path, "read", error).message)),
    );
    const meta = parseJson(beside.textOf(file.path.replace(/\.jsonl$/, ".meta.json")))?.value;
    const text = textOfFile(file);
    return [{ agentId, meta, ...text, issues: [...text.issues, ...issues] }];
  });
  const origin = findOrigin(main.records, session.origins);
  const inheritedDollars = inheritedBy(main.records, origin, options);
  const folder = dirname(mainFile?.path ?? files[0]?.path ?? "");
  return importClaudeCode({
    main,
    subagents,
    sessionId: sourceId,
    ...(options.ownId !== undefined && { ownId: options.ownId }),
    ...(mainFile !== undefined && { path: mainFile.path }),
    ...(session.cwd === "" && { cwd: cwdOfClaudeFolder(folder, options.claudeProjects) }),
    ...(origin !== undefined && { forkedFrom: origin.facts.sessionId }),
    ...(inheritedDollars !== undefined && { inheritedDollars }),
    importedAt: options.importedAt,
  });
}

/** Returns the dollars that the totals of a copy begin with; what was imported already stays as it is. */
function inheritedBy(
  records: readonly SourceRecord[],
  origin: KnownFile | undefined,
  { known }: ReadOptions,
): Dollars | undefined {
  const told = inheritedDollarsIn(known);
  const isOld = known.some(({ type }) => type === "usage");
  if (told !== undefined || isOld || origin === undefined) return told;
  return dollarsWhenCopied(textOfFile(origin).records, records);
}

function readCodex({ files, others, title }: SourceSession, { importedAt }: ReadOptions): ImportedSession[] {
  const imported = importCodex({
    rollouts: files.map(textOfRollout),
    others: others.map(textOfRollout),
    ...(title !== undefined && { title }),
    importedAt,
  });
  return imported === undefined ? [] : [imported];
}

function readGemini({ files, cwd }: SourceSession, { importedAt }: ReadOptions): ImportedSession[] {
  const [file] = files;
  const [text, ...others] = files.map(({ path }) => readGeminiText(readSourceAsText(path)));
  if (file === undefined || text === undefined) return [];
  const { path, facts } = file;
  const parent = facts.parentId === undefined ? {} : { parentId: facts.parentId };
  const imported = importGemini({ ...text, others, path, cwd, ...parent, importedAt });
  return imported === undefined ? [] : [imported];
}

function readMessages(
  { files, sourceId, cwd, startedAt }: SourceSession,
  { importedAt, begunAt = startedAt }: ReadOptions,
): ImportedSession[] {
  const [file] = files;
  if (file === undefined) return [];
  const { path } = file;
  const document = parseJson(readSourceAsText(path))?.value;
  try {
    const imported = importMessages({ document, sourceId, path, cwd, startedAt: begunAt, importedAt });
    return imported === undefined ? [] : [imported];
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const message = `${path} holds an array that is none of messages: ${error.message} Take that out, or import the rest.`;
    throw new SessionError("NOT_A_SESSION", message, { details: { path }, cause: error });
  }
}

function readPi4({ files, sourceId }: SourceSession, { importedAt }: ReadOptions): ImportedSession[] {
  return files.flatMap(({ path }) => {
    const imported = importPi4({ ...readPi4Text(readSource(path)), path, sourceId, importedAt });
    return imported === undefined ? [] : [imported];
  });
}

const UUIDS = /"uuid":"([0-9a-f-]{36})"/g;

/**
 * Finds the file of the session of Claude Code that another one was copied from: the one with most of its records.
 *
 * @param records - Records of the copy.
 * @param candidates - Files that are older than the copy.
 * @returns Undefined if none holds the first record of the copy.
 * @remarks Cost: reading the candidates.
 */
function findOrigin(
  records: readonly SourceRecord[],
  candidates: readonly KnownFile[],
): KnownFile | undefined {
  const uuids = records.flatMap(({ value }) => textOf(value["uuid"]) ?? []);
  const [first] = uuids;
  let best: { readonly file: KnownFile; readonly shared: number } | undefined;
  for (const file of candidates) {
    const held = uuidsIn(file.path);
    if (!held.has(first)) continue;
    const shared = uuids.filter((uuid) => held.has(uuid)).length;
    if (best === undefined || shared > best.shared) best = { file, shared };
  }
  return best?.file;
}

/** Counts the records of a file that are in none of the others. */
function missingUuids(path: string, others: readonly string[]): number {
  const held = new Set(others.flatMap((other) => [...uuidsIn(other)]));
  return [...uuidsIn(path)].filter((uuid) => !held.has(uuid)).length;
}

/** Bytes of the longest match of `UUIDS`. */
const MATCH_BYTES = 45;

/** Returns the ids of a file's records; empty if it cannot be read, which its own import reports. */
function uuidsIn(path: string): Set<string | undefined> {
  const held = new Set<string | undefined>();
  try {
    for (const piece of readSourcePieces(path, MATCH_BYTES)) {
      const text = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
      for (const [, uuid] of text.matchAll(UUIDS)) held.add(uuid);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    held.clear();
  }
  return held;
}
