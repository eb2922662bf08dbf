import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Spent } from "../../../core/facts/usage-tally.ts";
import { decodeBytes, type EmbeddedSession } from "../model/embedded-session.ts";
import { readSessionUsage } from "../model/index-usage.ts";
import type { SessionEntries } from "../model/session-entries.ts";
import { makeSessionModel, type SessionModel } from "../model/session-model.ts";
import { listModelCalls } from "../model/usage.ts";
import { useAnswer } from "./use-server.ts";

/**
 * Whether the page follows its session: not at all; while a program is writing, or while none is; or no longer, since the
 * command has ended.
 */
export type Following = "never" | "now" | "quiet" | "ended";

/** A session as it is by now. */
export interface LiveSession {
  readonly session: SessionModel;
  /** What the list of sessions counts of it, subagents included; undefined until that is known, and without a list. */
  readonly listed: Spent | undefined;
  readonly following: Following;
  /** Whether the end of the conversation was in sight before the session grew. */
  readonly wasAtEnd: boolean;
}

/** Reading anew is put off so many times as long as it takes, so that the page stays quick. */
const REST = 4;
const MIN_PAUSE_MS = 100;

/** What the list of sessions counts of a session that grows is asked for no more often: the server looks at all of them. */
const SELDOM_MS = 3000;

/** Pixels from the end that still count as being there. */
const NEAR_END = 120;

/**
 * Makes the model of a session, and makes it anew as more of it is known, and as a server tells what is appended.
 *
 * @param areLinksKnown - Until then no facts of entries are read.
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
      // The file cannot be read any more; to try again every few seconds would change nothing.
      events.addEventListener("failed", () => {
        events.close();
        end();
      });
      events.addEventListener("writing", ({ data }: MessageEvent<string>) =>
        setLive((before) => ({ ...before, following: data === "true" ? "now" : "quiet" })),
      );
      events.onerror = end;
    };
    void areLinksKnown.finally(() => {
      if (!live.session.isWhole) growing.readLater();
      if (server !== undefined) follow(server.eventsUrl);
    });
  }, [embedded, entries]);
  const { session } = live;
  // Anew for every call that is appended; of a large session only once its calls are known.
  const calls = useMemo(() => listModelCalls(session).length, [session]);
  const usageUrl = session.isWhole ? server?.usageUrl : undefined;
  const answer = useAnswer(useSeldom(usageUrl && `${usageUrl}?${calls}`), readSessionUsage);
  useEffect(() => {
    if (answer.state !== "there") return;
    const { listed, estimates } = answer.value;
    entries.addEstimates(estimates);
    const estimated = entries.isWhole && estimates.size > 0 ? makeSessionModel(entries, fileName) : undefined;
    setLive((before) => ({ ...before, listed, session: estimated ?? before.session }));
  }, [answer]);
  return live;
}

/** Returns a value as it was at most a while ago, so that what is asked for each one is asked seldom. */
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

/** Appends what comes to a session, together where it comes quickly, and reads it without holding the page up. */
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

  /** Reads what is not known yet, piece by piece. */
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

/** Tells whether the end of the conversation is in sight, or no conversation is shown. */
export function isAtEnd(): boolean {
  const list = document.querySelector(".conversation");
  return list === null || list.scrollHeight - list.clientHeight - list.scrollTop < NEAR_END;
}

/** Milliseconds after which work leaves the turn to other work. */
const SLICE_MS = 40;

/** Begins a slice of work; the function tells whether it is over. */
export function sliceOfWork(milliseconds = SLICE_MS): () => boolean {
  const endMs = performance.now() + milliseconds;
  return () => performance.now() > endMs;
}

/** Resolves once other work had its turn. A timer would take longer, and in a page that is out of sight a second. */
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
