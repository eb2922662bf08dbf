import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { parseExpression } from "../../catalog/query/search-query.ts";
import {
  type RedactEverywhereOptions,
  type RedactedPlace,
  redactTextInScopes,
  type StandingText,
  type TextRedaction,
} from "../../catalog/redaction/redact-text.ts";
import { formatCounted } from "../../core/facts/number-text.ts";
import { toPlainLine } from "../../core/facts/plain-text.ts";
import { groupBy } from "../../core/format/group-by.ts";
import type { CatalogScope } from "../../session/files/session-files.ts";
import { sessionNotFound } from "../../session/manager/open-session.ts";
import type { CommandCall } from "./command.ts";
import { confirmChange } from "./confirm.ts";
import { EXIT_CODES, type ExitCode } from "./exit-codes.ts";
import { getScope } from "./session-argument.ts";
import { asUsage, UsageError } from "./usage-error.ts";

/** Request to redact text, and its scope. */
export interface MatchingRequest {
  readonly matching: string;
  readonly isExpression: boolean;
  /** Undefined for all sessions of the project or, with `isAll`, for all sessions. */
  readonly session: string | undefined;
  readonly isAll: boolean;
  readonly isDryRun: boolean;
  readonly replacement: string;
}

interface Reach {
  readonly scopes: readonly CatalogScope[];
  readonly options: RedactEverywhereOptions;
}

const MAX_ENTRIES = 5;

/** Redacts all occurrences of a string after listing them and asking for confirmation, and counts the occurrences that remain. */
export async function redactMatching(call: CommandCall, request: MatchingRequest): Promise<ExitCode> {
  if (request.session !== undefined && request.isAll)
    throw new UsageError("Name a session, or give --all, not both.");
  const { matching, isExpression } = request;
  const wanted = await asUsage(() => (isExpression ? parseExpression(matching, "") : matching));
  const reach = await findReach(call, request);
  const redact = ({ scopes, options }: Reach, isDryRun: boolean) =>
    asUsage(() => redactTextInScopes(scopes, wanted, { ...options, dryRun: isDryRun }));
  const found = await redact(reach, true);
  writePlaces(call, found.changed, request.isDryRun);
  if (request.isDryRun || found.changed.length === 0) {
    const standing = [...found.standing, ...(await findElsewhere(call, request, found, redact))];
    return writeOutcome(call, { changed: [], pending: found.changed, standing });
  }
  call.out.flush();
  const question = `Redact the text in ${formatAmount(found.changed)}? Backups change as well, so the text cannot be restored.`;
  if (!(await confirmChange(call, question))) return EXIT_CODES.failed;
  const { changed, standing } = await redact(reach, false);
  const elsewhere = await findElsewhere(call, request, found, redact);
  return writeOutcome(call, { changed, pending: [], standing: [...standing, ...elsewhere] });
}

async function findReach(
  call: CommandCall,
  { session, isAll, replacement }: MatchingRequest,
): Promise<Reach> {
  const { io, stored } = call;
  const options = { replacement, now: io.now };
  if (stored !== undefined) {
    const id = session === undefined ? undefined : (await stored.find(session))?.id;
    if (session !== undefined && id === undefined)
      throw new UsageError("Name a session in the database, or leave out --store for files.");
    const which = id === undefined ? (isAll ? {} : { cwd: io.cwd }) : { ids: [id] };
    return { scopes: [], options: { ...options, ...which, store: await stored.store() } };
  }
  if (session === undefined) return { scopes: getScopes(call, isAll), options };
  const path = await call.findFile(session);
  if (!existsSync(path)) throw sessionNotFound(path);
  return {
    scopes: [...getScopes(call, true), { sessionDir: dirname(path) }],
    options: { ...options, paths: [path] },
  };
}

/** Returns the scopes of a call. With `--all`, the folder set in the environment does not replace the default folders. */
function getScopes(call: CommandCall, isAll: boolean): CatalogScope[] {
  const scope = getScope(call, isAll);
  return isAll && call.dir === undefined ? [{ includeImported: true }, scope] : [scope];
}

/** Finds other occurrences of the text if the request did not include all sessions. */
async function findElsewhere(
  call: CommandCall,
  request: MatchingRequest,
  found: TextRedaction,
  redact: (reach: Reach, isDryRun: boolean) => Promise<TextRedaction>,
): Promise<StandingText[]> {
  if (request.isAll || (call.dir !== undefined && request.session === undefined)) return [];
  const all = await redact(await findReach(call, { ...request, session: undefined, isAll: true }), true);
  const known = new Set([...found.changed, ...found.standing].map(({ path }) => path));
  const others = all.changed.filter(({ path }) => !known.has(path));
  return others.map(({ kind, path }) => ({ kind, path, reason: OUTSIDE }));
}

const OUTSIDE = "It is outside the requested scope; --all redacts it.";

function writePlaces({ json, out }: CommandCall, places: readonly RedactedPlace[], isDryRun: boolean): void {
  for (const { kind, path, entryIds } of places) {
    if (json) out.json({ action: isDryRun ? "would redact" : "redact", kind, path, entries: entryIds });
    else out.line(`${kind}  ${toPlainLine(path)}${formatEntries(entryIds)}`);
  }
  if (isDryRun && places.length > 0 && !json)
    out.prose("Backups change as well, so the text cannot be restored after a redaction.");
}

function formatEntries(ids: readonly string[]): string {
  if (ids.length === 0) return "";
  const more = ids.length > MAX_ENTRIES ? ` and ${ids.length - MAX_ENTRIES} more` : "";
  return `: ${ids.slice(0, MAX_ENTRIES).map(toPlainLine).join(", ")}${more}`;
}

interface RedactionResult extends TextRedaction {
  /** Occurrences that a dry run left unchanged. */
  readonly pending: readonly RedactedPlace[];
}

/** Reports what was redacted, then where the text remains. */
function writeOutcome({ json, out }: CommandCall, { changed, pending, standing }: RedactionResult): ExitCode {
  const count = standing.length + pending.length;
  if (json) {
    for (const one of standing) out.json({ action: "stands", ...one });
    out.json({ redacted: changed.length, standing: count });
  } else {
    for (const sentence of formatResult(changed, pending, standing)) out.line(sentence);
    for (const [reason, places] of groupBy(standing, (one) => one.reason)) {
      out.prose(toPlainLine(reason));
      for (const { kind, path } of places) out.line(`  ${kind}  ${toPlainLine(path)}`);
    }
  }
  return count === 0 ? EXIT_CODES.ok : EXIT_CODES.failed;
}

function formatResult(
  changed: readonly RedactedPlace[],
  pending: readonly RedactedPlace[],
  standing: readonly StandingText[],
): string[] {
  if (changed.length + pending.length + standing.length === 0) return ["The text was not found."];
  const remains =
    pending.length > 0 ? "It would remain" : changed.length > 0 ? "It remains" : "The text remains";
  return [
    ...(changed.length > 0 ? [`Redacted the text in ${formatAmount(changed)}.`] : []),
    ...(pending.length > 0 ? [`Would redact the text in ${formatAmount(pending)}.`] : []),
    standing.length > 0 ? `${remains} in ${formatCounted(standing.length, "place")}:` : `${remains} nowhere.`,
  ];
}

/** Formats the number of places and, if it is higher, the number of entries that contain the text. */
function formatAmount(places: readonly RedactedPlace[]): string {
  const number = formatCounted(places.length, "place");
  const entries = places.reduce((sum, { entryIds }) => sum + entryIds.length, 0);
  return entries > places.length ? `${formatCounted(entries, "entry", "entries")} in ${number}` : number;
}
