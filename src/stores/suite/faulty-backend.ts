import type { AppendReceipt, SessionBackend } from "../contract/session-backend.ts";
import type { StoreFaults } from "./kit.ts";

/** Backend whose calls fail on request. */
export interface FaultyBackend {
  readonly backend: SessionBackend;
  readonly faults: StoreFaults;
}

/**
 * Wraps a backend to simulate network failures, for the fault tests in `sessionStoreSuite`.
 *
 * @param inner - Backend to wrap. It is not modified.
 */
export function faultyBackend(inner: SessionBackend): FaultyBackend {
  let failing = 0;
  let losing = 0;
  let forgetting = 0;
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    if (failing > 0) {
      failing--;
      throw new Error("the connection failed");
    }
    const answer = await call();
    if (losing === 0) return answer;
    losing--;
    throw new Error("the connection was lost before the answer came");
  };
  const { amend, listUsage, search, subscribe } = inner;
  const backend: SessionBackend = {
    supports: inner.supports,
    create: (session, lines) => through(() => inner.create(session, lines)),
    read: (...given) => through(() => inner.read(...given)),
    append: (id, lines, condition) =>
      through(() => {
        if (forgetting === 0) return inner.append(id, lines, condition);
        forgetting--;
        return pretendToAppend(inner, id, lines.length, condition?.afterSeq);
      }),
    list: (query) => through(() => inner.list(query)),
    delete: (id) => through(() => inner.delete(id)),
    close: (options) => inner.close(options),
    ...(amend && { amend: (id, change) => through(() => amend.call(inner, id, change)) }),
    ...(listUsage && { listUsage: (query) => through(() => listUsage.call(inner, query)) }),
    ...(search && { search: (...given) => through(() => search.call(inner, ...given)) }),
    ...(subscribe && { subscribe: (...given) => subscribe.call(inner, ...given) }),
  };
  const faults: StoreFaults = {
    failNext: (count) => {
      failing = count;
    },
    loseAnswers: (count) => {
      losing = count;
    },
    loseWrites: (count) => {
      forgetting = count;
    },
  };
  return { backend, faults };
}

/** Returns a receipt as if lines had been appended, after earlier lines that were also not appended. */
async function pretendToAppend(
  inner: SessionBackend,
  id: string,
  count: number,
  afterSeq = 0,
): Promise<AppendReceipt> {
  for (let end = 0; ; ) {
    const { lines, isEnd, revision } = await inner.read(id, end, 1_000);
    end = lines.at(-1)?.seq ?? end;
    const precedingSeq = Math.max(end, afterSeq);
    if (isEnd) return { precedingSeq, lastSeq: precedingSeq + count, revision };
  }
}
