import { basename, dirname } from "node:path";
import { getMessageFields } from "../../core/context/entry-fields.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import type { AssistantMessage } from "../../core/format/message.ts";
import { assertOptions, makeNumberRule } from "../../core/format/options.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import {
  encodePartialAnswer,
  isAnswerRecord,
  listPartialAnswers,
  type PartialAnswer,
  type PartialAnswerFile,
  parsePartialAnswer,
  writePartialAnswer,
} from "../files/partial-answer-files.ts";
import { makeFolder, realFileSystem, retryWhileHeld } from "../fs/file-system.ts";
import { ownerName, removeFile } from "../fs/temporary-files.ts";
import { COMMUTING_TYPES } from "../log/expected-leaf.ts";
import { toFileError } from "../log/file-errors.ts";
import type { SessionLog } from "../log/session-log.ts";
import { isPartialAnswerName, partialAnswerPath } from "../log/written-names.ts";
import { prepareEntry } from "./entry-draft.ts";
import type { SessionState } from "./session-state.ts";

const EVERY_MS = 1000;

/** Types of entries that are not part of a conversation. */
const PASSIVE_TYPES: ReadonlySet<string> = new Set([
  ...COMMUTING_TYPES,
  "custom",
  "model_change",
  "thinking_level_change",
]);

/** Answer that is being saved. */
interface Running {
  readonly leafId: string | null;
  /** Undefined in memory. */
  readonly path: string | undefined;
  message: AssistantMessage;
  isSaved: boolean;
  savedAtMs: number;
}

/** Number of answers that this process has saved. Makes their file names unique. */
let count = 0;

const all = new WeakMap<SessionState, PartialAnswers>();

/** Returns the partial answers of an open session. */
export function getPartialAnswers(
  state: SessionState,
  report: (issue: SessionIssue) => void,
): PartialAnswers {
  const known = all.get(state) ?? new PartialAnswers(state, report);
  all.set(state, known);
  return known;
}

/**
 * Saves partial answers, and recovers those saved by a killed process. See `SessionManager.savePartialAnswer`.
 */
export class PartialAnswers {
  readonly #state: SessionState;
  readonly #report: (issue: SessionIssue) => void;
  /** Log to which all fields below belong. The session may switch to another log. */
  #log: SessionLog;
  #running: Running | undefined;
  /** Encoded answer of a session without a file. */
  #inMemory: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: unknown;
  /** Files of recovered answers. */
  #recovered: readonly string[] = [];
  readonly #reported = new Set<string>();

  constructor(state: SessionState, report: (issue: SessionIssue) => void) {
    this.#state = state;
    this.#report = report;
    this.#log = state.log;
    state.events.on("entry_appended", ({ entry }) => {
      if (getMessageFields(entry)["role"] === "assistant") this.#end();
    });
    state.events.on("closed", () => {
      clearTimeout(this.#timer);
      if (this.#running?.isSaved === false) this.#write(this.#running);
    });
  }

  /** @param leafId - Id of the leaf at the time of the call, before this module was loaded. */
  save(message: AssistantMessage, leafId: string | null, options: { readonly everyMs?: number }): void {
    assertOptions(options, { everyMs: makeNumberRule(0, "milliseconds") });
    if (!isAnswerRecord(message))
      throw new TypeError("Only an answer can be saved: a message with the role assistant.");
    const { everyMs = EVERY_MS } = options;
    this.#follow();
    this.#state.assertWritable();
    // The answer was appended in the meantime.
    if (leafId !== this.#state.leafId) return;
    this.#throwFailure();
    this.#running ??= this.#begin(leafId, message);
    const running = this.#running;
    running.message = message;
    running.isSaved = false;
    const waitMs = running.savedAtMs + everyMs - performance.now();
    if (waitMs <= 0) {
      this.#write(running);
      this.#throwFailure();
    } else this.#timer ??= setTimeout(() => this.#write(running), waitMs).unref();
  }

  /** Returns the latest partial answer for a leaf as an aborted answer. */
  recover(leafId?: string): AssistantMessage | undefined {
    this.#follow();
    const wanted = this.#listPlaces(leafId);
    const found = this.#find();
    const fitting = found.filter(({ answer }) => answer !== undefined && wanted.has(answer.leafId));
    const others = found.filter(({ answer }) => answer === undefined || (leafId ?? fitting[0]) === undefined);
    for (const file of others) if (!fitting.includes(file)) this.#reportLeft(file);
    const { path } = this.#log;
    if (path !== undefined && this.#log.readOnlyReason === undefined) {
      this.#recovered = fitting.map((file) => this.#withName(file.path, path));
    }
    const [latest] = fitting.flatMap(({ answer }) => answer ?? []).sort((a, b) => b.savedMs - a.savedMs);
    return latest && { ...latest.message, stopReason: "aborted" };
  }

  discard(leafId?: string): void {
    this.#follow();
    const wanted = this.#listPlaces(leafId);
    this.#state.assertWritable();
    for (const { path, answer } of this.#find())
      if (path !== "" && (answer === undefined || wanted.has(answer.leafId)))
        removeFile(realFileSystem, path);
    this.#end();
  }

  /**
   * Returns the ids of the entries that a partial answer can belong to at the current leaf. They are followed only by entries
   * that are not part of the conversation.
   */
  #listPlaces(leafId: string | undefined): ReadonlySet<string | null> {
    if (leafId !== undefined) return new Set([leafId]);
    const { tree, leaf } = this.#state;
    const places = new Set([this.#state.leafId]);
    for (let at = leaf; at !== NONE && PASSIVE_TYPES.has(tree.typeAt(at)); ) {
      at = tree.parentAt(at);
      places.add(this.#state.getId(at));
    }
    return places;
  }

  /** Resets the state if this object has switched to another session. Keeps the partial answer's file. */
  #follow(): void {
    if (this.#log === this.#state.log) return;
    this.#log = this.#state.log;
    this.#forget();
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running = undefined;
    this.#inMemory = undefined;
    this.#recovered = [];
  }

  /** Removes saved and recovered answers, because the answer has been appended or is not needed. */
  #end(): void {
    const paths = [this.#running?.path, ...this.#recovered];
    this.#forget();
    for (const path of paths) if (path !== undefined) removeFile(realFileSystem, path);
  }

  #begin(leafId: string | null, message: AssistantMessage): Running {
    const { path } = this.#log;
    const own = path === undefined ? undefined : partialAnswerPath(path, ownerName(), ++count);
    return { leafId, path: own, message, isSaved: false, savedAtMs: Number.NEGATIVE_INFINITY };
  }

  #write(running: Running): void {
    this.#timer = undefined;
    running.savedAtMs = performance.now();
    running.isSaved = true;
    try {
      const answer = this.#prepare(running);
      if (running.path === undefined) {
        this.#inMemory = encodePartialAnswer(answer);
        return;
      }
      makeFolder(realFileSystem, dirname(running.path));
      writePartialAnswer(running.path, answer);
    } catch (error) {
      this.#failure = running.path === undefined ? error : toFileError(running.path, "write", error);
    }
  }

  /** Passes the answer through the host's hook, in the form of an entry. */
  #prepare({ leafId, message }: Running): PartialAnswer {
    const { beforePersist } = this.#state.options;
    const savedMs = Date.now();
    const sessionId = this.#log.index.header?.id ?? "";
    const draft = {
      type: "message",
      id: "partial",
      parentId: leafId,
      timestamp: new Date(savedMs).toISOString(),
    };
    const entry = { ...draft, message };
    const after = beforePersist === undefined ? entry : prepareEntry(entry, beforePersist);
    const kept: unknown = "message" in after ? after.message : undefined;
    return { sessionId, leafId, savedMs, message: isAnswerRecord(kept) ? kept : { ...message, content: [] } };
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }

  #find(): PartialAnswerFile[] {
    const { path, index } = this.#log;
    if (path !== undefined) return listPartialAnswers(path, index.header?.id);
    const answer = this.#inMemory === undefined ? undefined : parsePartialAnswer(this.#inMemory);
    return answer === undefined || typeof answer === "string" ? [] : [{ path: "", answer, fault: "" }];
  }

  /** Renames a partial answer's file to match the session file, which may have been renamed. */
  #withName(file: string, path: string): string {
    if (isPartialAnswerName(basename(file), path)) return file;
    const renamed = partialAnswerPath(path, ownerName(), ++count);
    retryWhileHeld(realFileSystem, () => realFileSystem.renameSync(file, renamed));
    return renamed;
  }

  #reportLeft({ path, answer, fault }: PartialAnswerFile): void {
    if (this.#reported.has(path)) return;
    this.#reported.add(path);
    const about =
      answer === undefined
        ? `The partial answer in ${path} cannot be recovered: ${fault}. Copy what you need, and call discardPartialAnswer.`
        : `There is a partial answer for ${answer.leafId ?? "the beginning"}, which is not the leaf. Pass that id to recoverPartialAnswer or discardPartialAnswer.`;
    const entryId = answer?.leafId ?? undefined;
    const place = { code: "PARTIAL_ANSWER_LEFT", line: 0, offset: 0, length: 0, message: about } as const;
    this.#report(entryId === undefined ? place : { ...place, entryId });
  }
}
