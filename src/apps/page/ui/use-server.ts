import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type FoundHits, readFoundHits } from "../model/session-list.ts";

/** Response of a server: not yet received, a value, or the reason for a failure. */
export type Answer<T> =
  | { readonly state: "waiting" }
  | { readonly state: "there"; readonly value: T }
  | { readonly state: "failed"; readonly reason: string };

/**
 * Fetches a value from the server of this page.
 *
 * @param url - Undefined while there is nothing to fetch; a response is kept until the next one arrives.
 * @param read - Reads the response; must be the same function on each call.
 * @param within - Delays the request until this element is in view.
 */
export function useAnswer<T>(
  url: string | undefined,
  read: (json: unknown) => T,
  within?: RefObject<HTMLElement | null>,
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ state: "waiting" });
  useEffect(() => {
    if (url === undefined) return undefined;
    const controller = new AbortController();
    const ask = () =>
      fetchJson(url, controller.signal)
        .then(read)
        .then(
          (value) => setAnswer({ state: "there", value }),
          (error: unknown) => {
            if (!controller.signal.aborted) setAnswer({ state: "failed", reason: getReason(error) });
          },
        );
    const observer = new IntersectionObserver((seen) => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      void ask();
    });
    const element = within?.current;
    if (element) observer.observe(element);
    else void ask();
    return () => {
      observer.disconnect();
      controller.abort();
    };
  }, [url, read]);
  return answer;
}

/** State of a content search. */
export type Contents =
  | { readonly state: "idle" }
  | { readonly state: "searching"; readonly text: string }
  | ({ readonly state: "found"; readonly text: string } & FoundHits)
  | { readonly state: "failed"; readonly text: string; readonly reason: string };

/**
 * Searches session contents, one search at a time.
 *
 * @param wanted - Query; undefined if there is none.
 * @returns The state of the search, and a function that searches again.
 */
export function useContents(searchUrl: string, wanted: string | undefined): [Contents, () => void] {
  const [contents, setContents] = useState<Contents>(IDLE);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (wanted === undefined) return undefined;
    const controller = new AbortController();
    setContents({ state: "searching", text: wanted });
    fetchJson(`${searchUrl}?${new URLSearchParams({ q: wanted })}`, controller.signal)
      .then((json) => readFoundHits(json, wanted))
      .then(
        (found) => setContents({ state: "found", text: wanted, ...found }),
        (error: unknown) => {
          if (controller.signal.aborted) return;
          setContents({ state: "failed", text: wanted, reason: getReason(error) });
        },
      );
    return () => controller.abort();
  }, [searchUrl, wanted, attempt]);
  const searchAgain = () => setAttempt(attempt + 1);
  if (wanted === undefined) return [IDLE, searchAgain];
  const isOf = contents.state !== "idle" && contents.text === wanted;
  return [isOf ? contents : { state: "searching", text: wanted }, searchAgain];
}

const IDLE: Contents = { state: "idle" };

/** @throws {Error} With the server's message, if the response is an error. */
async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

function getReason(error: unknown): string {
  return error instanceof Error ? error.message : "unknown";
}
