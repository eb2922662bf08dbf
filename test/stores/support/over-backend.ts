import type { SessionBackend } from "sessiontree/stores";

/** Returns a backend that behaves like another one, except for some calls. */
export function overBackend(inner: SessionBackend, changes: Partial<SessionBackend>): SessionBackend {
  const { amend, search, subscribe } = inner;
  return {
    supports: inner.supports,
    create: (session, lines) => inner.create(session, lines),
    read: (...given) => inner.read(...given),
    append: (id, lines, condition) => inner.append(id, lines, condition),
    list: (query) => inner.list(query),
    delete: (id) => inner.delete(id),
    close: (options) => inner.close(options),
    ...(amend && { amend: (id, change) => amend.call(inner, id, change) }),
    ...(search && { search: (...given) => search.call(inner, ...given) }),
    ...(subscribe && { subscribe: (...given) => subscribe.call(inner, ...given) }),
    ...changes,
  };
}
