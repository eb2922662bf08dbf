import { useEffect, useState } from "preact/hooks";
import type { EmbeddedSession } from "../model/embedded-session.ts";
import type { SessionEntries } from "../model/session-entries.ts";
import { makeSessionModel, type SessionModel } from "../model/session-model.ts";
import { bytesOf } from "../model/session-pieces.ts";

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

/** Makes the model of a session, and makes it anew as a server tells what is appended. */
export function useLiveSession(embedded: EmbeddedSession, entries: SessionEntries): LiveSession {
  const { fileName, server } = embedded;
  const [live, setLive] = useState<LiveSession>(() => ({
    session: makeSessionModel(entries, fileName),
    following: server === undefined ? "never" : "now",
    wasAtEnd: false,
  }));
  useEffect(() => {
    if (server === undefined) return;
    const growing = new GrowingSession(entries, () => {
      const session = makeSessionModel(entries, fileName);
      setLive((before) => ({ ...before, session, wasAtEnd: isAtEnd() }));
    });
    const events = new EventSource(`${server.eventsUrl}&from=${entries.bytes.length}`);
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
  }, [embedded, entries]);
  return live;
}

/** Appends what comes to a session, together where it comes quickly. */
class GrowingSession {
  readonly #entries: SessionEntries;
  readonly #onRead: () => void;
  #pieces: Uint8Array[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pauseMs = LEAST_PAUSE_MS;

  constructor(entries: SessionEntries, onRead: () => void) {
    this.#entries = entries;
    this.#onRead = onRead;
  }

  append(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#timer ??= setTimeout(() => this.#read(), this.#pauseMs);
  }

  #read(): void {
    this.#timer = undefined;
    const startMs = performance.now();
    for (const piece of this.#pieces) this.#entries.append(piece);
    this.#pieces = [];
    this.#entries.end();
    this.#onRead();
    this.#pauseMs = Math.max(LEAST_PAUSE_MS, REST * (performance.now() - startMs));
  }
}

function isAtEnd(): boolean {
  const list = document.querySelector(".conversation");
  return list === null || list.scrollHeight - list.clientHeight - list.scrollTop < NEAR_END;
}
