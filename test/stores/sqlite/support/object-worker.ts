import { type SqliteObjectStorage, sqliteStore } from "sessiontree/sqlite";
import { sqliteSuite } from "./sqlite-suite.ts";
import { SuiteRunner } from "./suite-runner.ts";

/** Arguments of a Durable Object, as far as they are used here. */
interface ObjectContext {
  readonly storage: SqliteObjectStorage & { setAlarm(atMs: number): Promise<void> };
  /** Ends this object, and with it the running request. */
  abort(reason: string): never;
}

/** A Durable Object that stores sessions, and runs the suite over its storage. */
export class Sessions {
  readonly #context: ObjectContext;

  constructor(context: ObjectContext) {
    this.#context = context;
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const text = searchParams.get("text") ?? "";
    if (pathname === "/suite") return Response.json(await this.#runSuite());
    if (pathname === "/append") return Response.json(await this.#append(text, false));
    if (pathname === "/evict") return Response.json(await this.#append(text, true));
    if (pathname === "/alarm") {
      await this.#context.storage.setAlarm(Date.now());
      return Response.json(null);
    }
    // As after hibernation, the next request gets a new object.
    if (pathname === "/end") return this.#context.abort("ended");
    return Response.json(await this.#read());
  }

  async alarm(): Promise<void> {
    await this.#append("rings", false);
  }

  #clear(): void {
    const { sql } = this.#context.storage;
    const tables = sql.exec("select name from sqlite_master where name = 'sessiontree_sessions'").toArray();
    if (tables.length === 0) return;
    sql.exec("delete from sessiontree_sessions");
    sql.exec("delete from sessiontree_deleted_sessions");
  }

  async #runSuite() {
    const runner = new SuiteRunner();
    const { storage } = this.#context;
    sqliteSuite(runner.test, () => {
      this.#clear();
      return { connect: () => storage, dispose: () => undefined };
    });
    return runner.run();
  }

  /** Appends to the session; with `isEvicted`, the object ends during the second of the append's two statements. */
  async #append(text: string, isEvicted: boolean): Promise<string> {
    const { storage } = this.#context;
    const abort = () => this.#context.abort("evicted");
    const evicting: SqliteObjectStorage = {
      sql: {
        exec: (sql, ...values) => {
          const cursor = storage.sql.exec(sql, ...values);
          // After the line was stored, and before the session's row is.
          if (isEvicted && sql.startsWith("insert into sessiontree_lines")) abort();
          return cursor;
        },
      },
      transactionSync: (work) => storage.transactionSync(work),
    };
    const store = sqliteStore({ database: evicting });
    const session = await store.openOrCreate("cart", { cwd: "/projects/shop" });
    const id = session.appendMessage({ role: "user", content: text, timestamp: Date.now() });
    await session.flush();
    await store.close();
    return id;
  }

  async #read(): Promise<unknown> {
    const store = sqliteStore({ database: this.#context.storage });
    const session = await store.openOrCreate("cart", { cwd: "/projects/shop" });
    const texts = session
      .buildSessionContext()
      .messages.map((message) => "content" in message && message.content);
    const found: string[] = [];
    for await (const { entryId } of store.search("needle")) found.push(entryId);
    return { texts, found: found.length, issues: session.issues };
  }
}

interface Environment {
  readonly SESSIONS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

export default {
  fetch: (request: Request, { SESSIONS }: Environment): Promise<Response> =>
    SESSIONS.get(SESSIONS.idFromName(new URL(request.url).searchParams.get("object") ?? "one")).fetch(
      request,
    ),
};
