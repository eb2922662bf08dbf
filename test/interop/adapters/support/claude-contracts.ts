import { foldSessionSummary } from "@anthropic-ai/claude-agent-sdk";
import {
  type ClaudeRecord,
  claudeSessionStore,
  type SummarizingClaudeSessionStore,
} from "sessiontree/adapters";
import type { SessionStore } from "sessiontree/stores";
import { describe, expect, test } from "vitest";

/** A store and a function that opens the same storage as a second process would. */
export interface Place {
  readonly store: SessionStore;
  readonly another: () => SessionStore;
}

export const SESSION = "0b6f3f0e-8f5e-4d57-9a51-3c1d2a5e7b10";
export const MAIN = { projectKey: "-projects-shop", sessionId: SESSION };
export const AGENT = { ...MAIN, subpath: "subagents/agent-7f" };

/** A record with a uuid, as in a transcript's lines. */
export function record(uuid: string, text = uuid): ClaudeRecord {
  return {
    type: "user",
    uuid,
    parentUuid: null,
    timestamp: "2026-11-01T10:00:00.000Z",
    sessionId: SESSION,
    cwd: "/projects/shop",
    message: { role: "user", content: [{ type: "text", text }] },
    nested: { nothing: null, list: [1, "two", { three: true }], empty: {} },
  };
}

/** Contract tests of the SDK's session stores, run on one made of one of our stores. */
export function claudeContracts(name: string, makePlace: () => Promise<Place>): void {
  const made = async () => {
    const place = await makePlace();
    const adapt = (store: SessionStore) => claudeSessionStore(store, { foldSessionSummary });
    return { ...place, sessions: adapt(place.store), elsewhere: () => adapt(place.another()) };
  };

  /** Checks what is loaded here and by another process that opens the storage again. */
  const expectLoaded = async (
    {
      sessions,
      elsewhere,
    }: { sessions: SummarizingClaudeSessionStore; elsewhere: () => SummarizingClaudeSessionStore },
    key: typeof MAIN | typeof AGENT,
    expected: unknown,
  ) => {
    expect(await sessions.load(key)).toStrictEqual(expected);
    expect(await elsewhere().load(key)).toStrictEqual(expected);
  };

  describe(`contracts of a Claude session store, over ${name}`, () => {
    test("1: loads appended records in order, deep-equal", async () => {
      const place = await made();
      const records = [record("b"), record("a"), record("c", "line\nbreak \u2028 \ud83d\ude00")];
      await place.sessions.append(MAIN, records);
      await expectLoaded(place, MAIN, records);
    });

    test("2: returns null for what was never written, subpaths too", async () => {
      const place = await made();
      await expectLoaded(place, MAIN, null);
      await place.sessions.append(MAIN, [record("a")]);
      await expectLoaded(place, AGENT, null);
      await expectLoaded(place, { ...MAIN, sessionId: "other" }, null);
    });

    test("3: keeps the order of several append calls, whatever their ids", async () => {
      const place = await made();
      const ids = ["z", "m", "a", "y", "b"];
      await Promise.all(ids.map((id) => place.sessions.append(MAIN, [record(id), record(`${id}2`)])));
      await expectLoaded(
        place,
        MAIN,
        ids.flatMap((id) => [record(id), record(`${id}2`)]),
      );
    });

    test("4: does nothing for an empty append", async () => {
      const place = await made();
      await place.sessions.append(MAIN, []);
      await expectLoaded(place, MAIN, null);
      expect(await place.sessions.listSessions(MAIN.projectKey)).toEqual([]);
      await place.sessions.append(MAIN, [record("a")]);
      await place.sessions.append(MAIN, []);
      await expectLoaded(place, MAIN, [record("a")]);
    });

    test("5: keeps a subpath as a separate transcript", async () => {
      const place = await made();
      await place.sessions.append(MAIN, [record("a")]);
      await place.sessions.append(AGENT, [record("a"), { type: "agent_metadata", agentType: "explore" }]);
      await expectLoaded(place, MAIN, [record("a")]);
      await expectLoaded(place, AGENT, [record("a"), { type: "agent_metadata", agentType: "explore" }]);
    });

    test("6: isolates projects from one another", async () => {
      const place = await made();
      const other = { ...MAIN, projectKey: "-projects-shop-2" };
      await place.sessions.append(MAIN, [record("a")]);
      await place.sessions.append(other, [record("b")]);
      await expectLoaded(place, MAIN, [record("a")]);
      await expectLoaded(place, other, [record("b")]);
      await place.sessions.delete(other);
      await expectLoaded(place, MAIN, [record("a")]);
    });

    test("7: lists a project's sessions with their storage time in Unix milliseconds", async () => {
      const { sessions, elsewhere } = await made();
      const before = Date.now();
      await sessions.append(MAIN, [record("a")]);
      await sessions.append({ ...MAIN, sessionId: "second" }, [record("a")]);
      await sessions.append({ projectKey: "other", sessionId: "third" }, [record("a")]);
      for (const store of [sessions, elsewhere()]) {
        const listed = await store.listSessions(MAIN.projectKey);
        expect(listed.map(({ sessionId }) => sessionId).sort()).toEqual([SESSION, "second"].sort());
        for (const { mtime } of listed) {
          expect(Number.isInteger(mtime)).toBe(true);
          expect(mtime).toBeGreaterThanOrEqual(before);
        }
        expect(await store.listSessions("unknown")).toEqual([]);
      }
    });

    test("8: leaves subagents out of the list of sessions", async () => {
      const { sessions } = await made();
      await sessions.append(AGENT, [record("a")]);
      expect(await sessions.listSessions(MAIN.projectKey)).toEqual([]);
      await sessions.append(MAIN, [record("a")]);
      expect(await sessions.listSessions(MAIN.projectKey)).toHaveLength(1);
    });

    test("9: returns null for deleted sessions, and ignores deletions of unknown ones", async () => {
      const place = await made();
      await place.sessions.delete(MAIN);
      await place.sessions.append(MAIN, [record("a")]);
      await place.sessions.delete(MAIN);
      await expectLoaded(place, MAIN, null);
      await place.sessions.delete(MAIN);
      expect(await place.sessions.listSessions(MAIN.projectKey)).toEqual([]);
      await place.sessions.append(MAIN, [record("b")]);
      await expectLoaded(place, MAIN, [record("b")]);
    });

    test("10: deletes a session's own subagents with it, and no others", async () => {
      const place = await made();
      const other = { ...AGENT, sessionId: "other" };
      for (const key of [MAIN, AGENT, { ...MAIN, subpath: "subagents/agent-8" }, other]) {
        await place.sessions.append(key, [record("a")]);
      }
      await place.elsewhere().delete(MAIN);
      await expectLoaded(place, MAIN, null);
      await expectLoaded(place, AGENT, null);
      await expectLoaded(place, { ...MAIN, subpath: "subagents/agent-8" }, null);
      await expectLoaded(place, other, [record("a")]);
      expect(await place.sessions.listSubkeys(MAIN)).toEqual([]);
    });

    test("11: deletes a subagent alone", async () => {
      const place = await made();
      const other = { ...MAIN, subpath: "subagents/agent-8" };
      for (const key of [MAIN, AGENT, other]) await place.sessions.append(key, [record("a")]);
      await place.sessions.delete(AGENT);
      await expectLoaded(place, AGENT, null);
      await expectLoaded(place, MAIN, [record("a")]);
      await expectLoaded(place, other, [record("a")]);
      expect(await place.sessions.listSubkeys(MAIN)).toEqual([other.subpath]);
    });

    test("12: lists subpaths as they were given", async () => {
      const { sessions, elsewhere } = await made();
      const subpaths = ["subagents/agent-1", "subagents/deep/../agent 2", "\u{1f600}", "x".repeat(300)];
      for (const subpath of [...subpaths, ...subpaths])
        await sessions.append({ ...MAIN, subpath }, [record("a")]);
      for (const store of [sessions, elsewhere()]) {
        expect((await store.listSubkeys(MAIN)).sort()).toEqual([...subpaths].sort());
      }
    });

    test("13: leaves the main transcript out of subpaths, and lists none for an unknown session", async () => {
      const { sessions } = await made();
      expect(await sessions.listSubkeys(MAIN)).toEqual([]);
      await sessions.append(MAIN, [record("a")]);
      expect(await sessions.listSubkeys(MAIN)).toEqual([]);
      await sessions.append(AGENT, [record("a")]);
      expect(await sessions.listSubkeys({ ...MAIN, sessionId: "other" })).toEqual([]);
    });

    test("14: keeps summaries as the SDK folds them, in step with the list", async () => {
      const { sessions, elsewhere } = await made();
      const first = [record("a", "Why is the cart empty?")];
      const second = [{ type: "custom-title", customTitle: "The cart", sessionId: SESSION }, record("b")];
      await sessions.append(MAIN, first);
      const [before] = await sessions.listSessionSummaries(MAIN.projectKey);
      expect(before).toEqual(foldSessionSummary(undefined, MAIN, first, { mtime: before?.mtime ?? 0 }));
      await elsewhere().append(MAIN, second);
      const [after] = await sessions.listSessionSummaries(MAIN.projectKey);
      expect(after).toEqual(foldSessionSummary(before, MAIN, second, { mtime: after?.mtime ?? 0 }));
      expect(JSON.stringify(after)).toContain("The cart");
      const times = async () => (await sessions.listSessions(MAIN.projectKey)).map(({ mtime }) => mtime);
      expect(await times()).toEqual([after?.mtime]);
      await sessions.append(AGENT, [record("c", "of a subagent")]);
      expect(await sessions.listSessionSummaries(MAIN.projectKey)).toEqual([after]);
      expect(await times()).toEqual([after?.mtime]);
      await sessions.delete(MAIN);
      expect(await sessions.listSessionSummaries(MAIN.projectKey)).toEqual([]);
    });

    test("counts a uuid once within a call, in a repeated call, and across processes, and records without one always", async () => {
      const place = await made();
      const title = { type: "custom-title", customTitle: "x" };
      await place.sessions.append(MAIN, [record("a"), record("a", "again"), title]);
      await place.sessions.append(MAIN, [record("a"), record("b"), title]);
      await place.elsewhere().append(MAIN, [record("b"), record("c")]);
      await place.sessions.append(MAIN, [record("c"), record("d")]);
      await expectLoaded(place, MAIN, [record("a"), title, record("b"), title, record("c"), record("d")]);
    });

    test("is unaffected by changes to loaded or appended records", async () => {
      const place = await made();
      const one = record("a");
      await place.sessions.append(MAIN, [one]);
      one["message"] = "spoiled";
      const [loaded] = (await place.sessions.load(MAIN)) ?? [];
      Object.assign(loaded ?? {}, { message: "spoiled" });
      await expectLoaded(place, MAIN, [record("a")]);
    });

    test("keeps each of many concurrent sessions whole", async () => {
      const place = await made();
      const keys = Array.from({ length: 24 }, (_, i) => ({ ...MAIN, sessionId: `s${i}` }));
      const rounds = [0, 1, 2];
      await Promise.all(
        keys.flatMap((key) =>
          rounds.map((i) => place.sessions.append(key, [record(`${key.sessionId}-${i}`)])),
        ),
      );
      for (const key of keys) {
        const expected = rounds.map((i) => record(`${key.sessionId}-${i}`));
        expect(await place.sessions.load(key)).toStrictEqual(expected);
      }
      expect(await place.elsewhere().listSessions(MAIN.projectKey)).toHaveLength(keys.length);
    });
  });
}
