import {
  estimateAll,
  estimateProjectedContextTokens,
  getLastAssistantUsage,
} from "../../../core/compaction/tokens.ts";
import { calculateContextTokens } from "../../../core/context/usage.ts";
import { KINDS } from "../../text/entry-kind.ts";
import type { ContextSize } from "../../text/usage-text.ts";
import type { ContextChoice, IndexedPath } from "./context-choice.ts";
import { findLastValue } from "./path-search.ts";
import { findKnownKind, type SessionModel } from "./session-model.ts";

/** Types of entries that change the context before them, so that usage recorded earlier refers to a different context. */
const CHANGES: ReadonlySet<string> = new Set(["compaction", "context_edit"]);

/** Maximum number of entries in a context that is measured before their facts are known. */
const MAX_UNKNOWN = 500;

/**
 * Measures a context as `estimateProjectedContextTokens` does, but from stored facts: parses only the bodies of edited entries,
 * instructions, compactions, and entries whose facts are unknown.
 *
 * @returns Undefined if too many facts are missing.
 * @remarks Cost: O(path).
 */
export function measureContext(
  session: SessionModel,
  path: IndexedPath,
  choice: ContextChoice,
): ContextSize | undefined {
  const { tree, facts, isWhole } = session;
  const later = listUnchanged(session, path, choice);
  const maySayUsage = (ordinal: number) =>
    tree.typeAt(ordinal) === "message" && (facts[ordinal] === undefined || facts[ordinal].used !== undefined);
  const last = findLastValue(session, later, maySayUsage, (entry) => getLastAssistantUsage([entry]));
  const trailing = last === undefined ? choice.ordinals : later.slice(last.index + 1);
  if (!isWhole && trailing.length > MAX_UNKNOWN) return undefined;
  const usageTokens = last === undefined ? 0 : calculateContextTokens(last.value);
  const trailingTokens =
    last === undefined ? sumWhole(session, choice) : sumTokens(session, choice, trailing);
  return { tokens: usageTokens + trailingTokens, usageTokens, trailingTokens };
}

/** Returns the entries of a context after the last compaction or edit on its path. */
function listUnchanged(
  { tree, entryAt }: SessionModel,
  { ordinals, indices }: IndexedPath,
  choice: ContextChoice,
): readonly number[] {
  // A change with a damaged body changes nothing.
  const isChange = (ordinal: number) =>
    CHANGES.has(tree.typeAt(ordinal)) && CHANGES.has(entryAt(ordinal)?.type ?? "");
  const changedAt = ordinals.findLastIndex(isChange);
  if (changedAt === -1) return choice.ordinals;
  const isBefore = (ordinal: number) => (indices.get(ordinal) ?? -1) <= changedAt;
  return choice.ordinals.slice(choice.ordinals.findLastIndex(isBefore) + 1);
}

function sumTokens({ tokens }: SessionModel, { project }: ContextChoice, some: readonly number[]): number {
  return some.reduce((sum, ordinal) => sum + (tokens[ordinal] ?? estimateAll(project(ordinal))), 0);
}

/** Returns the number of tokens in a whole context, where instructions are merged into one message. */
function sumWhole(session: SessionModel, choice: ContextChoice): number {
  const isExact = (ordinal: number) =>
    choice.edits.has(ordinal) ||
    session.tree.typeAt(ordinal) === "compaction" ||
    findKnownKind(session, ordinal) === KINDS.system ||
    session.tokens[ordinal] === undefined;
  const messages = choice.ordinals.filter(isExact).flatMap(choice.project);
  const rest = choice.ordinals.filter((ordinal) => !isExact(ordinal));
  return (
    estimateProjectedContextTokens({ entries: [], messages }, []).tokens + sumTokens(session, choice, rest)
  );
}
