import { useEffect, useRef, useState } from "preact/hooks";
import type { Spent } from "../../../core/facts/usage-tally.ts";
import { decodeBytes, type EmbeddedSession } from "../model/embedded-session.ts";
import { readSessionUsage } from "../model/index-usage.ts";
import type { SessionEntries } from "../model/session-entries.ts";
import { makeSessionModel, type SessionModel } from "../model/session-model.ts";
import { getUsage } from "../model/usage.ts";
import { useAnswer } from "./use-server.ts";

/**
 * Whether the page follows its session: not at all; while a program is writing, or while no program is; or no longer, because the
 * command has ended.
 */
export type Following = "never" | "now" | "quiet" | "ended";

/** Current state of a session. */
export interface LiveSession {
  readonly session: SessionModel;
  /**
   * Usage of the session as counted in the list of sessions, including subagents; undefined if not yet known, or without a list.
   */
  readonly listed: Spent | undefined;
  readonly following: Following;
  /** Whether the end of the conversation was in view before the session grew. */
  readonly wasAtEnd: boolean;
}

/** Pause between readings, as a multiple of their duration, so that the page stays responsive. */
const REST = 4;
const MIN_PAUSE_MS = 100;

/**
 * Minimum interval between requests for the usage of a growing session in the list, because the server checks all sessions for
 * each request.
 */
const SELDOM_MS = 3000;

/** Distance from the end, in pixels, that is still treated as the end. */
const NEAR_END = 120;

/**
 * Creates the model of a session, and re-creates it as more entries are read and as a server reports appended bytes.
 *
 * @param areLinksKnown - Facts of entries are read only after this settles.
 */
export function useLiveSession(
  embedded: EmbeddedSession,
  entries: SessionEntries,
  areLinksKnown: Promise<void>,
): LiveSession {
  const { fileName, server } = embedded;
  const [live, setLive] = useState<LiveSession>(() => {
    const session = makeSessionModel(entries, fileName);
    return {
      session,
      listed: undefined,
      following: server === undefined ? "never" : "quiet",
      wasAtEnd: false,
    };
  });
  /** Time of the file's last change when the server last reported that a program is writing, in Unix milliseconds. */
  const [writtenMs, setWrittenMs] = useState(0);
  useEffect(() => {
    const growing = new GrowingSession(entries, () => {
      const session = makeSessionModel(entries, fileName);
      setLive((before) => ({ ...before, session, wasAtEnd: isAtEnd() }));
    });
    const end = () => setLive((before) => ({ ...before, following: "ended" }));
    const follow = (url: string) => {
      const events = new EventSource(`${url}&from=${entries.bytes.size}`);
      events.onmessage = ({ data }: MessageEvent<string>) => growing.append(decodeBytes(data));
      events.addEventListener("replaced", () => location.reload());
      // The file can no longer be read; retrying every few seconds would not change that.
      events.addEventListener("failed", () => {
        events.close();
        end();
      });
      events.addEventListener("writing", ({ data }: MessageEvent<string>) => {
        setWrittenMs(Number(data));
        setLive((before) => ({ ...before, following: data === "" ? "quiet" : "now" }));
      });
      events.onerror = end;
    };
    void areLinksKnown.finally(() => {
      if (!live.session.isWhole) growing.readLater();
      if (server !== undefined) follow(server.eventsUrl);
    });
  }, [embedded, entries]);
  const { session } = live;
  // Requested again for every appended call; for a large session only after its calls are known.
  const calls = getUsage(session).calls.length;
  const usageUrl = session.isWhole ? server?.usageUrl : undefined;
  const answer = useAnswer(useSeldom(usageUrl && `${usageUrl}?${calls}`), readSessionUsage);
  useEffect(() => {
    if (answer.state !== "there") return;
    const { listed, estimates } = answer.value;
    entries.addEstimates(estimates);
    const estimated = entries.isWhole && estimates.size > 0 ? makeSessionModel(entries, fileName) : undefined;
    setLive((before) => ({ ...before, listed, session: estimated ?? before.session }));
  }, [answer]);
  // An import, a redaction, and a new name change the file of a conversation that has ended.
  const hasEnded = live.following === "now" && writtenMs - findLastMessageMs(session) > MAX_TURN_MS;
  return hasEnded ? { ...live, following: "quiet" } : live;
}

/**
 * Maximum time from the last message to a later change of its file by the same program, in milliseconds: an answer can take
 * minutes.
 */
const MAX_TURN_MS = 600_000;

/** Returns the time of the last message in the file, in Unix milliseconds; NaN if there is none. */
function findLastMessageMs({ tree, size }: SessionModel): number {
  let at = size - 1;
  while (at >= 0 && tree.typeAt(at) !== "message") at--;
  return at < 0 ? Number.NaN : tree.timeAt(at);
}

/** Returns a value delayed by up to `SELDOM_MS`, so that requests that depend on it are infrequent. */
function useSeldom<T>(value: T): T {
  const [taken, take] = useState(value);
  const takenMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        takenMs.current = performance.now();
        take(value);
      },
      takenMs.current + SELDOM_MS - performance.now(),
    );
    return () => clearTimeout(timer);
  }, [value]);
  return taken;
}

/** Appends incoming bytes to a session, in batches if they arrive quickly, and reads them without blocking the page. */
class GrowingSession {
  readonly #entries: SessionEntries;
  readonly #onRead: () => void;
  #pieces: Uint8Array[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pauseMs = MIN_PAUSE_MS;

  constructor(entries: SessionEntries, onRead: () => void) {
    this.#entries = entries;
    this.#onRead = onRead;
  }

  append(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.readLater(this.#pauseMs);
  }

  /** Reads entries whose facts are unknown, slice by slice. */
  readLater(pauseMs = 0): void {
    this.#timer ??= setTimeout(() => void this.#read(), pauseMs);
  }

  async #read(): Promise<void> {
    for (const piece of this.#pieces) this.#entries.append(piece);
    if (this.#pieces.length > 0) this.#entries.end();
    this.#pieces = [];
    let startMs = performance.now();
    while (!this.#entries.readFacts(sliceOfWork())) {
      await waitForOtherWork();
      startMs = performance.now();
    }
    this.#onRead();
    this.#pauseMs = Math.max(MIN_PAUSE_MS, REST * (performance.now() - startMs));
    this.#timer = undefined;
    if (this.#pieces.length > 0) this.readLater(this.#pauseMs);
  }
}

/** Returns whether the end of the conversation is in view, or no conversation is shown. */
export function isAtEnd(): boolean {
  const list = document.querySelector(".conversation");
  return list === null || list.scrollHeight - list.clientHeight - list.scrollTop < NEAR_END;
}

/** Milliseconds after which work yields to other work. */
const SLICE_MS = 40;

/** Starts a slice of work; the function returns whether its time is up. */
export function sliceOfWork(milliseconds = SLICE_MS): () => boolean {
  const endMs = performance.now() + milliseconds;
  return () => performance.now() > endMs;
}

/** Resolves after other work has had a chance to run. A timer would take longer: a full second on a page in the background. */
export function waitForOtherWork(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
