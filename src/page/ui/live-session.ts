import { useEffect, useState } from "preact/hooks";
import { bytesOf, type EmbeddedSession } from "../model/embedded-session.ts";
import { makeSessionModel, type SessionModel } from "../model/session-model.ts";

/** Whether the page follows its session: not at all, at the moment, or no longer, since the command has ended. */
export type Following = "never" | "now" | "ended";

/** A session as it is by now. */
export interface LiveSession {
  readonly session: SessionModel;
  readonly following: Following;
  /** Whether the end of the conversation was in sight before the session grew. */
  readonly wasAtEnd: boolean;
}

/** Reading anew is put off so many times as long as it takes, so that the page stays quick. */
const REST = 4;
const LEAST_PAUSE_MS = 100;

/** Pixels from the end that still count as being there. */
const NEAR_END = 120;

/** Reads a session, and reads it anew as a server tells what is appended. */
export function useLiveSession(embedded: EmbeddedSession): LiveSession {
  const [live, setLive] = useState<LiveSession>(() => ({
    session: makeSessionModel(embedded),
    following: embedded.liveUrl === undefined ? "never" : "now",
    wasAtEnd: false,
  }));
  useEffect(() => {
    const { liveUrl } = embedded;
    if (liveUrl === undefined) return;
    const growing = new GrowingSession(embedded, (session) =>
      setLive((before) => ({ ...before, session, wasAtEnd: isAtEnd() })),
    );
    const events = new EventSource(liveUrl);
    events.onmessage = ({ data }: MessageEvent<string>) => growing.append(bytesOf(data));
    const end = () => setLive((before) => ({ ...before, following: "ended" }));
    events.addEventListener("replaced", () => location.reload());
    // The file cannot be read any more; to try again every few seconds would change nothing.
    events.addEventListener("failed", () => {
      events.close();
      end();
    });
    events.onopen = () => setLive((before) => ({ ...before, following: "now" }));
    events.onerror = end;
    return () => events.close();
  }, [embedded]);
  return live;
}

/** The bytes of a session that grows. */
class GrowingSession {
  readonly #embedded: EmbeddedSession;
  readonly #onRead: (session: SessionModel) => void;
  #bytes: Uint8Array;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pauseMs = LEAST_PAUSE_MS;

  constructor(embedded: EmbeddedSession, onRead: (session: SessionModel) => void) {
    this.#embedded = embedded;
    this.#bytes = embedded.bytes;
    this.#onRead = onRead;
  }

  append(more: Uint8Array): void {
    const bytes = new Uint8Array(this.#bytes.length + more.length);
    bytes.set(this.#bytes);
    bytes.set(more, this.#bytes.length);
    this.#bytes = bytes;
    this.#timer ??= setTimeout(() => this.#read(), this.#pauseMs);
  }

  #read(): void {
    this.#timer = undefined;
    const startMs = performance.now();
    this.#onRead(makeSessionModel({ ...this.#embedded, bytes: this.#bytes }));
    this.#pauseMs = Math.max(LEAST_PAUSE_MS, REST * (performance.now() - startMs));
  }
}

function isAtEnd(): boolean {
  const list = document.querySelector(".conversation");
  return list === null || list.scrollHeight - list.clientHeight - list.scrollTop < NEAR_END;
}
