import type { NewLine, SessionBackend, SessionFacts } from "sessiontree/stores";
import { factsAfter, selectSessions, sessionExists, sessionNotFound, writesLost } from "sessiontree/stores";

type Session = { facts: SessionFacts; lines: (NewLine & { seq: number })[]; revision: number };

export function tinyBackend(): SessionBackend {
  const sessions = new Map<string, Session>();
  let created = 0;
  const put = (session: Session, lines: readonly NewLine[]) => {
    for (const line of lines) session.lines.push({ ...line, seq: session.lines.length + 1 });
    session.facts = factsAfter(session.facts, lines);
  };
  const find = (id: string, knownSeq = 0, knownId?: string) => {
    const session = sessions.get(id);
    if (session === undefined) throw sessionNotFound(id);
    const entry = session.lines[knownSeq - 1]?.entry;
    if (knownSeq > session.lines.length || (knownId ?? entry?.id) !== entry?.id) throw writesLost(id);
    return session;
  };
  return {
    supports: { rewrite: false, search: false, watch: false, conditionalAppend: false },
    async create(facts, batches) {
      const session: Session = { facts, lines: [], revision: created++ };
      for await (const lines of batches) put(session, lines);
      if (sessions.has(facts.id)) throw sessionExists(facts.id);
      sessions.set(facts.id, session);
      return { precedingSeq: 0, lastSeq: session.lines.length, revision: session.revision };
    },
    async read(id, afterSeq, limit, afterEntryId) {
      const session = find(id, afterEntryId === undefined ? 0 : afterSeq, afterEntryId);
      const rest = session.lines.slice(afterSeq);
      return { lines: rest.slice(0, limit), isEnd: rest.length <= limit, revision: session.revision };
    },
    async append(id, given, { afterSeq, afterEntryId } = {}) {
      const session = find(id, afterSeq, afterEntryId);
      const getSeq = ({ text }: NewLine) => session.lines.findIndex((line) => line.text === text) + 1;
      const added = given.filter((line) => getSeq(line) === 0);
      put(session, added);
      const seqs = given.map(getSeq);
      return { precedingSeq: Math.min(...seqs) - 1, lastSeq: Math.max(...seqs), revision: session.revision };
    },
    list: async (query) => selectSessions(Array.from(sessions.values(), getFacts), query),
    delete: async (id) => sessions.delete(id),
    close: async () => undefined,
  };
}
const getFacts = ({ facts }: Session) => facts;
