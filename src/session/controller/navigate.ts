import {
  collectEntriesForBranchSummary,
  generateBranchSummary,
} from "../../core/compaction/branch-summary.ts";
import { getTexts } from "../../core/context/content-text.ts";
import { toRecord } from "../../core/context/entry-fields.ts";
import { refuseAborted } from "../../core/format/abort.ts";
import type { BranchSummaryEntry, SessionEntry } from "../../core/format/entry.ts";
import { isSessionError, SessionError } from "../../core/format/errors.ts";
import { pickDefined } from "../../core/format/json.ts";
import { assertOptions, FLAG, SIGNAL, TEXT } from "../../core/format/options.ts";
import {
  assertNotLeft,
  assertSameSession,
  type ControllerHost,
  joinSignals,
  requireEntry,
  takeSnapshot,
} from "./controller-host.ts";
import type { ExtensionBranchSummary, SessionHookEvents, SessionHookResults } from "./hook-events.ts";

/** Options for navigating the tree. */
export interface NavigateTreeOptions {
  /** Whether to append a summary of the abandoned branch. */
  readonly summarize?: boolean | undefined;
  /** Instructions from the user: a focus for the summary, or all of its instructions if `replaceInstructions` is set. */
  readonly customInstructions?: string | undefined;
  readonly replaceInstructions?: boolean | undefined;
  /** Label for the summary, or for the target if there is no summary. */
  readonly label?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Result of a navigation. */
export interface NavigateTreeResult {
  /** Whether a handler or the caller stopped the navigation, so that nothing was changed. */
  cancelled: boolean;
  /** Whether the caller's signal was the reason. */
  aborted?: boolean;
  /** Text of the target message, for editing and resending. */
  editorText?: string;
  summaryEntry?: BranchSummaryEntry;
}

type TreePreparation = SessionHookEvents["session_before_tree"]["preparation"];

interface ReadySummary extends ExtensionBranchSummary {
  readonly fromExtension: boolean;
}

interface Destination {
  readonly leafId: string | null;
  readonly editorText?: string;
}

const CANCELLED = "Navigation cancelled";

/** Moves the leaf and optionally appends a summary of the abandoned branch. See `SessionController.navigateTree`. */
export async function navigateTree(
  host: ControllerHost,
  targetId: string,
  options: NavigateTreeOptions,
): Promise<NavigateTreeResult> {
  assertOptions(options, {
    summarize: FLAG,
    customInstructions: TEXT,
    replaceInstructions: FLAG,
    label: TEXT,
    signal: SIGNAL,
  });
  const { session } = host.current;
  const target = requireEntry(session, targetId);
  if (targetId === session.getLeafId()) return { cancelled: false };
  const snapshot = takeSnapshot(session);
  const signal = joinSignals(host.current.leaving, options.signal);
  const preparation = prepareTree(host, targetId, options);
  try {
    refuseAborted(signal, CANCELLED);
    if (preparation.userWantsSummary || options.label !== undefined) session.assertWritable();
    const answer = await host.hooks.emit("session_before_tree", { preparation, signal }, signal);
    if (answer?.cancel === true) return { cancelled: true };
    const summary = await makeSummary(host, preparation, answer, signal);
    refuseAborted(signal, CANCELLED);
    assertNotLeft(snapshot, host.current.session);
    const label = answer?.label ?? options.label;
    // Checked before the leaf moves, because the label can no longer be rejected after that.
    if (label !== undefined && label !== "") session.assertWritable();
    return await moveLeaf(host, target, label, summary);
  } catch (error) {
    if (!isSessionError(error, "ABORTED")) throw error;
    assertSameSession(snapshot, host.current.session);
    return { cancelled: true, aborted: true };
  }
}

function prepareTree(host: ControllerHost, targetId: string, options: NavigateTreeOptions): TreePreparation {
  const { session } = host.current;
  const oldLeafId = session.getLeafId();
  const { entries, commonAncestorId } = collectEntriesForBranchSummary(session, oldLeafId, targetId);
  const { summarize = false, customInstructions, replaceInstructions, label } = options;
  return {
    targetId,
    oldLeafId,
    commonAncestorId,
    entriesToSummarize: entries,
    userWantsSummary: summarize,
    ...pickDefined({ customInstructions, replaceInstructions, label }),
  };
}

/** Returns the summary to append; undefined if none is requested or there is nothing to summarize. */
async function makeSummary(
  host: ControllerHost,
  preparation: TreePreparation,
  answer: SessionHookResults["session_before_tree"] | undefined,
  signal: AbortSignal,
): Promise<ReadySummary | undefined> {
  if (!preparation.userWantsSummary) return undefined;
  if (answer?.summary) return { ...checkUsable(answer.summary), fromExtension: true };
  if (preparation.entriesToSummarize.length === 0) return undefined;
  const { summary, readFiles, modifiedFiles, usage } = await generateBranchSummary(
    preparation.entriesToSummarize,
    {
      summarize: host.summarize ?? throwNoSummarizer,
      ...host.branchSummary,
      counter: host.counter,
      customInstructions: answer?.customInstructions ?? preparation.customInstructions,
      replaceInstructions: answer?.replaceInstructions ?? preparation.replaceInstructions,
      signal,
    },
  );
  if (summary === "") return undefined;
  return { summary, details: { readFiles, modifiedFiles }, usage, fromExtension: false };
}

function checkUsable(input: ExtensionBranchSummary): ExtensionBranchSummary {
  const text: unknown = input.summary;
  if (typeof text === "string" && text.trim() !== "") return input;
  const message =
    "A handler of session_before_tree returned a summary without text; nothing was changed. Correct the extension.";
  throw new SessionError("SUMMARY_FAILED", message, { details: { kind: "branch" } });
}

function throwNoSummarizer(): never {
  throw new Error("the controller has no summarizer");
}

/** Moves the leaf and appends the summary and label synchronously, so that no other operation can intervene. */
async function moveLeaf(
  { current: { session }, hooks }: ControllerHost,
  target: SessionEntry,
  label: string | undefined,
  summary: ReadySummary | undefined,
): Promise<NavigateTreeResult> {
  const oldLeafId = session.getLeafId();
  const { leafId, editorText } = getDestination(target);
  let summaryEntry: BranchSummaryEntry | undefined;
  if (summary !== undefined) {
    const { fromExtension, details, usage } = summary;
    const id = session.branchWithSummary(leafId, summary.summary, details, fromExtension || undefined, usage);
    const entry = session.getEntry(id);
    if (entry?.type === "branch_summary") summaryEntry = entry;
  } else if (leafId === null) {
    session.resetLeaf();
  } else {
    session.branch(leafId);
  }
  if (label !== undefined && label !== "") session.appendLabelChange(summaryEntry?.id ?? target.id, label);
  await hooks.emit("session_tree", {
    newLeafId: session.getLeafId(),
    oldLeafId,
    ...(summary && summaryEntry && { summaryEntry, fromExtension: summary.fromExtension }),
  });
  return { cancelled: false, ...pickDefined({ editorText, summaryEntry }) };
}

/**
 * Returns the new leaf for a target. If the target is a message from the user or an extension, it is to be edited, so its parent
 * becomes the leaf.
 */
function getDestination(target: SessionEntry): Destination {
  const editorText = findEditableText(target);
  return editorText === undefined ? { leafId: target.id } : { leafId: target.parentId, editorText };
}

function findEditableText(entry: SessionEntry): string | undefined {
  if (entry.type === "custom_message") return getTexts(entry.content).join("");
  const { role, content } = toRecord(entry.type === "message" ? entry.message : undefined);
  return role === "user" || role === "custom" ? getTexts(content).join("") : undefined;
}
