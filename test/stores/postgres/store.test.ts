import { migrateDatabase, postgresStore } from "sessiontree/postgres";
import { redactEverywhere } from "sessiontree/stores";
import { beforeAll, expect, test } from "vitest";
import { copySession } from "../../../src/stores/contract/session-store.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import { embeddedDatabase } from "./support/embedded.ts";

const database = embeddedDatabase();

beforeAll(() => migrateDatabase({ client: database() }));

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece.slice());
  return Buffer.concat(all);
}

test("stores a session in the database, from which another store opens it with the same context", async () => {
  const store = postgresStore({ client: database() });
  const session = store.create({ cwd: "/project" });
  session.appendMessage({ role: "user", content: "Hello", timestamp: 1 });
  const leaf = session.appendSessionInfo("a name");
  await session.flush();

  const other = await postgresStore({ client: database() }).open(session.getSessionId());
  expect(other.getLeafId()).toBe(leaf);
  expect(other.buildSessionContext().messages).toEqual(session.buildSessionContext().messages);
  const listed = [];
  for await (const one of store.list()) listed.push(one);
  expect(listed).toMatchObject([{ id: session.getSessionId(), name: "a name", messageCount: 1 }]);
  await session.close();
  await other.close();
});

test("two hosts append to one session, and each receives the other's entries", async () => {
  const [a, b] = [postgresStore({ client: database() }), postgresStore({ client: database() })];
  const mine = a.create({ cwd: "/project", createAtOnce: true });
  await mine.flush();
  const theirs = await b.open(mine.getSessionId());
  const end = new AbortController();
  const seen = (async () => {
    for await (const entry of theirs.watch({ signal: end.signal })) return entry;
    return undefined;
  })();
  const id = mine.appendMessage({ role: "user", content: "from the first", timestamp: 1 });
  await mine.flush();
  expect(await seen).toMatchObject({ id });
  end.abort();
  theirs.branch(id);
  const reply = theirs.appendMessage({ role: "user", content: "from the second", timestamp: 2 });
  await theirs.flush();
  mine.appendMessage({ role: "user", content: "and again", timestamp: 3 });
  await mine.flush();
  expect(mine.getEntry(reply)).toMatchObject({ parentId: id });
});

test("a session has the same bytes after a round trip through the database, damage included", async () => {
  const header = `{"type":"session","version":3,"id":"damaged","timestamp":"2026-03-01T12:00:00.000Z","cwd":"/p"}`;
  const entry = `{"type":"message","id":"000000a1","parentId":null,"timestamp":"2026-03-01T12:00:00.000Z","message":{"role":"user","content":"\\u0000"}}`;
  const damage = Buffer.concat([Buffer.from([0xff, 0, 0xc3]), Buffer.from("\r\n\n\0\0\n\ufeff{}\n{torn")]);
  const bytes = Buffer.concat([Buffer.from(`${header}\n${entry}\n${entry}\n`), damage]);
  const from = memoryStore();
  await from.importBytes(
    (async function* () {
      yield bytes;
    })(),
  );
  const middle = postgresStore({ client: database() });
  const to = memoryStore();
  await copySession(from, "damaged", middle);
  await copySession(middle, "damaged", to);
  expect((await bytesOf(to.exportBytes("damaged"))).equals(bytes)).toBe(true);
});

test("redacts a text in every session that has it, and no longer finds it anywhere", async () => {
  const store = postgresStore({ client: database() });
  const secret = "sk-live-0123456789";
  for (const id of ["with", "without"]) {
    const session = store.create({ cwd: "/redacted", id });
    const content = id === "with" ? `the key ${secret}` : "no key";
    session.appendMessage({ role: "user", content, timestamp: 1 });
    session.appendSessionInfo(content);
    await session.close();
  }
  const { changed, standing } = await redactEverywhere(secret, { store });
  expect([changed.map(({ path }) => path), standing]).toEqual([["with"], []]);
  for (const table of ["sessions", "lines"]) {
    const { rows } = await database().query(`select t::text as text from sessiontree.${table} t`);
    expect(JSON.stringify(rows).toLowerCase()).not.toContain(secret);
  }
  expect((await bytesOf(store.exportBytes("with"))).includes(secret)).toBe(false);
  expect((await store.open("with")).issues).toEqual([]);
});
