import { backendKit, type NewLine, type SessionBackend, type SessionFacts } from "sessiontree/stores";

const { factsAfter, selectSessions, sessionExists, sessionNotFound, writesLost } = backendKit;
type Session = { facts: SessionFacts; lines: (NewLine & { seq: number })[]; revision: number };

export function tinyBackend(): SessionBackend {
  const sessions = new Map<string, Session>();
  let created = 0;
  const put = (session: Session, gap: number, lines: readonly NewLine[]) => {
    let seq = (session.lines.at(-1)?.seq ?? 0) + gap;
    for (const line of lines) session.lines.push({ ...line, seq: ++seq });
    session.facts = factsAfter(session.facts, lines);
  };
  const find = (id: string, afterSeq = 0, entryId?: string) => {
    const session = sessions.get(id);
    if (session === undefined) throw sessionNotFound(id);
    const known = session.lines.find(({ seq }) => seq === afterSeq);
    if (afterSeq > 0 && (!known || (entryId ?? known.entry?.id) !== known.entry?.id)) throw writesLost(id);
    return session;
  };
  return {
    supports: { rewrite: false, search: false, watch: false, conditionalAppend: false },
    async create(facts, batches) {
      const session: Session = { facts, lines: [], revision: created++ };
      for await (const lines of batches) put(session, 0, lines);
      if (sessions.has(facts.id)) throw sessionExists(facts.id);
      sessions.set(facts.id, session);
      return { precedingSeq: 0, lastSeq: session.lines.length, revision: session.revision };
    },
    async read(id, afterSeq, limit, afterEntryId) {
      const session = find(id, afterEntryId === undefined ? 0 : afterSeq, afterEntryId);
      const rest = session.lines.filter(({ seq }) => seq > afterSeq);
      return { lines: rest.slice(0, limit), isEnd: rest.length <= limit, revision: session.revision };
    },
    async append(id, given, { afterSeq, afterEntryId, gap = 0 } = {}) {
      const session = find(id, afterSeq, afterEntryId);
      const indexOf = ({ text }: NewLine) => session.lines.findIndex((line) => line.text === text);
      const added = given.filter((line) => indexOf(line) === -1);
      put(session, gap, added);
      const indexes = given.map(indexOf);
      const seqAt = (index: number) => session.lines[index]?.seq ?? 0;
      const precedingSeq = seqAt(Math.min(...indexes) - 1);
      return { precedingSeq, lastSeq: seqAt(Math.max(...indexes)), revision: session.revision };
    },
    list: async (query) => selectSessions(Array.from(sessions.values(), getFacts), query),
    delete: async (id) => sessions.delete(id),
    close: async () => undefined,
  };
}
const getFacts = ({ facts }: Session) => facts;
