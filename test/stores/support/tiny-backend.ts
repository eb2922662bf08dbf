import type { NewLine, SessionBackend, SessionFacts } from "sessiontree/stores";
import { factsAfter, selectSessions, sessionExists, sessionNotFound } from "sessiontree/stores";

type Session = { facts: SessionFacts; lines: (NewLine & { seq: number })[] };

export function tinyBackend(): SessionBackend {
  const sessions = new Map<string, Session>();
  const put = (session: Session, lines: readonly NewLine[]) => {
    for (const line of lines) session.lines.push({ ...line, seq: session.lines.length + 1 });
    session.facts = factsAfter(session.facts, lines);
  };
  return {
    supports: { rewrite: false, search: false, watch: false, conditionalAppend: false },
    async create(facts, batches) {
      const session: Session = { facts, lines: [] };
      for await (const lines of batches) put(session, lines);
      if (sessions.has(facts.id)) throw sessionExists(facts.id);
      sessions.set(facts.id, session);
      return { precedingSeq: 0, lastSeq: session.lines.length, revision: 0 };
    },
    async read(id, afterSeq, limit) {
      const rest = sessions.get(id)?.lines.slice(afterSeq);
      if (rest === undefined) throw sessionNotFound(id);
      return { lines: rest.slice(0, limit), isEnd: rest.length <= limit, revision: 0 };
    },
    async append(id, given) {
      const session = sessions.get(id);
      if (session === undefined) throw sessionNotFound(id);
      const seqOf = ({ text }: NewLine) => session.lines.findIndex((line) => line.text === text) + 1;
      const added = given.filter((line) => seqOf(line) === 0);
      put(session, added);
      const seqs = given.map(seqOf);
      return { precedingSeq: Math.min(...seqs) - 1, lastSeq: Math.max(...seqs), revision: 0 };
    },
    list: async (query) => selectSessions(Array.from(sessions.values(), factsOf), query),
    delete: async (id) => sessions.delete(id),
    close: async () => undefined,
  };
}
const factsOf = ({ facts }: Session) => facts;
