/**
 * Measures sessions in PostgreSQL against session files, in the same run, over the build: npm run bench:postgres
 *
 * Options: --json, --only TEXT, --entries N (default 100000), --sessions N (default 100000), --seconds N per rate
 * (default 2), --large N to fill the database with N sessions of ten lines first (default 0), --url postgres://… for a server that is there; else one is started on loopback, as the tests do.
 */
import { createReadStream, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { migrateDatabase, postgresStore } from "../../dist/postgres.js";
import { copySession, fileStore, type SessionStore } from "../../dist/stores.js";
import { startServer } from "../postgres-server/support/server.ts";
import { sqlBlocks } from "../stores/postgres/support/document-statements.ts";
import { sessionFile } from "./data.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    entries: { type: "string", default: "100000" },
    sessions: { type: "string", default: "100000" },
    seconds: { type: "string", default: "2" },
    large: { type: "string", default: "0" },
    url: { type: "string" },
    data: { type: "string", default: join(tmpdir(), "sessiontree-bench-data") },
  },
});

/** Objects with which a case is measured. */
interface Bench {
  readonly client: pg.Pool;
  readonly postgres: SessionStore;
  readonly files: SessionStore;
  readonly url: string;
  /** Folder of the file store. */
  readonly folder: string;
}

interface Case {
  readonly name: string;
  run(bench: Bench): Promise<void>;
}

function report(name: string, implementation: string, value: number, unit: string): void {
  if (values.json) console.log(JSON.stringify({ name, implementation, value, unit }));
  else
    console.log(`${name.padEnd(56)} ${implementation.padEnd(22)} ${value.toFixed(1).padStart(12)} ${unit}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Returns the median of a few measurements. */
async function medianMs(work: () => Promise<unknown>, runs = 5): Promise<number> {
  const all: number[] = [];
  for (let i = 0; i < runs; i++) all.push(await timed(work));
  return all.sort((a, b) => a - b)[runs >> 1] ?? Number.NaN;
}

const TEXT = "the agent reads a file and finds that the test fails ".repeat(17).slice(0, 900);

/** Appends in batches, each flushed before the next, for some seconds. Returns entries per second. */
async function appendRate(
  stores: readonly SessionStore[],
  batch: number,
  isShared: boolean,
): Promise<number> {
  const [first] = stores;
  if (first === undefined) return Number.NaN;
  const id = isShared ? await newSession(first) : undefined;
  const ms = Number(values.seconds) * 1000;
  let count = 0;
  const end = performance.now() + ms;
  await Promise.all(
    stores.map(async (store) => {
      const session = await store.open(id ?? (await newSession(store)));
      for (let n = 0; performance.now() < end; n++) {
        for (let i = 0; i < batch; i++) {
          session.appendMessage({ role: "user", content: `${n} ${i} ${TEXT}`, timestamp: Date.now() });
        }
        await session.flush();
        count += batch;
      }
      await session.close();
    }),
  );
  return (count / ms) * 1000;
}

async function newSession(store: SessionStore): Promise<string> {
  const session = store.create({ cwd: "/projects/bench", createAtOnce: true });
  await session.close();
  return session.getSessionId();
}

const appends: Case = {
  name: "appends",
  async run({ client, files, folder }) {
    const durable = fileStore({ sessionDir: folder, durability: "fsync" });
    const of = (count: number) => Array.from({ length: count }, () => postgresStore({ client }));
    for (const batch of [1, 10, 100]) {
      const name = `append and flush, ${batch} at a time, 1 writer`;
      report(name, "PostgreSQL", await appendRate(of(1), batch, false), "entries/s");
      report(name, "file, fsync each", await appendRate([durable], batch, false), "entries/s");
      report(name, "file", await appendRate([files], batch, false), "entries/s");
    }
    for (const writers of [4, 16]) {
      for (const [where, isShared] of [
        ["one session", true],
        ["a session each", false],
      ] as const) {
        const name = `append and flush, 1 at a time, ${writers} writers, ${where}`;
        report(name, "PostgreSQL", await appendRate(of(writers), 1, isShared), "entries/s");
      }
    }
  },
};

const opening: Case = {
  name: "open",
  async run({ client, postgres, files, folder }) {
    for (const entries of [10_000, Number(values.entries)]) {
      const source = join(values.data, `postgres-${entries}.jsonl`);
      sessionFile(source, { entries, textBytes: 900, compactEvery: 2_000, seed: entries });
      const id = await files.importBytes(createReadStream(source));
      const before = await tableSizes(client);
      const copyMs = await timed(() => copySession(files, id, postgres));
      const after = await tableSizes(client);
      report(`copy a file of ${entries} entries into the database`, "PostgreSQL", copyMs, "ms");
      for (const [what, bytes] of Object.entries(after))
        report(
          `${entries} entries take in ${what}`,
          "PostgreSQL",
          (bytes - (before[what] ?? 0)) / entries,
          "bytes/entry",
        );
      const name = `open and first context, ${entries} entries`;
      for (const [implementation, store] of Object.entries({ PostgreSQL: postgres, file: files })) {
        const ms = await medianMs(async () => {
          const session = await store.open(id);
          session.buildSessionContext();
          await session.close();
        });
        report(name, implementation, ms, "ms");
      }
      await client.query("analyze");
      const word = "message 7777 ";
      for (const [implementation, store] of Object.entries({ PostgreSQL: postgres, file: files }))
        report(
          `search ${entries} entries`,
          implementation,
          await medianMs(() => count(store.search(word))),
          "ms",
        );
    }
    rmSync(folder, { recursive: true, force: true });
  },
};

async function count(items: AsyncIterable<unknown>): Promise<number> {
  let number = 0;
  for await (const _ of items) number++;
  return number;
}

async function tableSizes(client: pg.Pool): Promise<Record<string, number>> {
  const { rows } = await client.query(
    `select pg_table_size('sessiontree.lines')::float8 as "the table", pg_relation_size('sessiontree.lines_by_text')::float8 as "the index for searching",
      (pg_indexes_size('sessiontree.lines') - pg_relation_size('sessiontree.lines_by_text'))::float8 as "other indexes"`,
  );
  return rows[0];
}

const listing: Case = {
  name: "list",
  async run({ client, postgres, folder }) {
    const sessions = Number(values.sessions);
    await client.query(
      `insert into sessiontree.sessions (id, cwd, project, name, name_search, created_ms, modified_ms)
        select 'listed-' || n, p, p, 'Session ' || n, 'SESSION ' || n, 0, 1700000000000 + n * 1000
        from generate_series(1, $1) n, lateral (select '/projects/' || n % 100 as p) x`,
      [sessions],
    );
    await client.query("analyze");
    const size = await client.query("select pg_total_relation_size('sessiontree.sessions')::float8 as bytes");
    report(
      "a session takes in table and indexes",
      "PostgreSQL",
      size.rows[0].bytes / sessions,
      "bytes/session",
    );
    const page = (store: SessionStore, options: object) =>
      medianMs(() => count(store.list({ limit: 100, ...options })), 9);
    const last = { modified: new Date(1700000000000 + 5_000), id: "listed-5" };
    report(`first page of ${sessions} sessions`, "PostgreSQL", await page(postgres, {}), "ms");
    report(`last page of ${sessions} sessions`, "PostgreSQL", await page(postgres, { after: last }), "ms");
    report(
      `first page of a project of ${sessions / 100}`,
      "PostgreSQL",
      await page(postgres, { cwd: "/projects/7" }),
      "ms",
    );
    report("first page by a rare name", "PostgreSQL", await page(postgres, { name: "session 777" }), "ms");
    report(
      `all ${sessions} sessions, page by page`,
      "PostgreSQL",
      await timed(() => count(postgres.list())),
      "ms",
    );

    const many = join(folder, "many");
    mkdirSync(many, { recursive: true });
    for (let n = 1; n <= sessions; n++) {
      const timestamp = new Date(1700000000000 + n * 1000).toISOString();
      const header = {
        type: "session",
        version: 3,
        id: `listed-${n}`,
        timestamp,
        cwd: `/projects/${n % 100}`,
      };
      writeFileSync(join(many, `${n}.jsonl`), `${JSON.stringify(header)}\n`);
    }
    const files = fileStore({ sessionDir: many });
    const all = () => count(files.list({ limit: 100 }));
    report(`first page of ${sessions} sessions, first time`, "file", await timed(all), "ms");
    report(`first page of ${sessions} sessions, again`, "file", await timed(all), "ms");
    rmSync(many, { recursive: true, force: true });
  },
};

/** Fills the database, in steps, with sessions whose lines have a thousand bytes. */
const large: Case = {
  name: "large",
  async run({ client, postgres, url }) {
    const sessions = Number(values.large);
    const lines = 10;
    const name = `${sessions} sessions of ${lines} lines`;
    // Building an index takes a fraction of the time in which it would grow.
    const { rows } = await client.query("select indexdef from pg_indexes where indexname = 'lines_by_text'");
    await client.query("drop index sessiontree.lines_by_text");
    const fillMs = await timed(async () => {
      for (let from = 1; from <= sessions; from += 10_000)
        await fill(client, from, Math.min(from + 9_999, sessions), lines);
    });
    report(`fill with ${name}`, "PostgreSQL", (sessions * lines * 1000) / fillMs, "entries/s");
    const indexMs = await timed(() => client.query(rows[0].indexdef));
    report(`build the index for searching of ${name}`, "PostgreSQL", indexMs / 1000, "s");
    await client.query("vacuum analyze");
    for (const [what, bytes] of Object.entries(await tableSizes(client)))
      report(`${name} take in ${what}`, "PostgreSQL", bytes / 1e9, "GB");
    report(
      `append and flush among ${name}`,
      "PostgreSQL",
      await appendRate([postgres], 1, false),
      "entries/s",
    );
    report(
      `open one of ${name}`,
      "PostgreSQL",
      await medianMs(() => postgres.open(`large-${sessions >> 1}`)),
      "ms",
    );
    await searches(client, url, sessions, name);
  },
};

/** Searches as the owner of the tables, and as roles to which row-level security applies. */
async function searches(owner: pg.Pool, url: string, sessions: number, name: string): Promise<void> {
  for (const code of sqlBlocks("docs/postgres.md", "roles")) await owner.query(code);
  await owner.query("create role unaware");
  await owner.query("grant usage on schema sessiontree to unaware");
  await owner.query("grant select on all tables in schema sessiontree to unaware");
  const words = { "in one entry": `needle${sessions >> 1}x`, "in none": "needle of nobody" };
  for (const [who, role] of [
    ["the owner", "postgres"],
    ["sessions_host", "sessions_host"],
    ["a role without find_lines", "unaware"],
  ] as const) {
    const client = new pg.Pool({ connectionString: url, max: 1, options: `-c role=${role}` });
    for (const [where, word] of Object.entries(words)) {
      const ms = await medianMs(() => count(postgresStore({ client }).search(word)));
      report(`search ${name}, as ${who}, what stands ${where}`, "PostgreSQL", ms, "ms");
    }
    await client.end();
  }
}

async function fill(client: pg.Pool, from: number, to: number, lines: number): Promise<void> {
  await client.query(
    `insert into sessiontree.sessions (id, cwd, project, created_ms, modified_ms, next_seq, last_seq, leaf_seq)
      select 'large-' || n, '/large', '/large', n, n, $3::integer + 1, $3, $3 from generate_series($1::integer, $2) n`,
    [from, to, lines],
  );
  await client.query(
    `insert into sessiontree.lines (session, seq, entry_id, type, time_ms, line, search)
      select s.key, i, to_hex(i), case when i > 1 then 'message' end, s.created_ms,
        case when i = 1 then format('{"type":"session","version":3,"id":"%s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/large"}', s.id)
        else format('{"type":"message","id":"%s","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"%s"}}',
          lpad(to_hex(i), 8, '0'), t.text) end,
        case when i > 1 then upper(t.text) end
      from sessiontree.sessions s, generate_series(1, $3) i,
        lateral (select format('needle%sx ', s.created_ms)
          || (select string_agg(md5(format('%s %s %s', s.key, i, k)), ' ') from generate_series(1, 25) k) as text) t
      where s.id = any (array(select 'large-' || n from generate_series($1::integer, $2) n)) order by s.key, i`,
    [from, to, lines],
  );
}

const server = values.url === undefined ? await startServer({ maintenance_work_mem: "512MB" }) : undefined;
const url = values.url ?? server?.url() ?? "";
const folder = join(values.data, "postgres-files");
if (existsSync(folder)) rmSync(folder, { recursive: true });
mkdirSync(folder, { recursive: true });
process.env["XDG_CACHE_HOME"] = join(folder, "cache");
const client = new pg.Pool({ connectionString: url, max: 16 });
try {
  await migrateDatabase({ client });
  const bench = {
    client,
    url,
    folder,
    postgres: postgresStore({ client }),
    files: fileStore({ sessionDir: folder }),
  };
  const cases = Number(values.large) > 0 ? [large] : [appends, listing, opening];
  for (const one of cases) if (one.name.includes(values.only)) await one.run(bench);
} finally {
  await client.end();
  await server?.remove();
  rmSync(folder, { recursive: true, force: true });
}
