/**
 * Runs a thread of LangGraph over one checkpointer, in a separate process, and prints one line of JSON: see `langgraph.ts`.
 *
 * Usage: langgraph-child.ts SAVER TURNS ADDRESS [SAVERS], where ADDRESS is a folder or a database, and SAVERS the folder in
 * which the packages of LangGraph's own savers are installed.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import pg from "pg";
import { SessionTreeSaver } from "../../dist/langgraph.js";
import { migrateDatabase, postgresStore } from "../../dist/postgres.js";
import { sqliteStore } from "../../dist/sqlite.js";
import { fileStore } from "../../dist/stores.js";

/** A measured thread. */
export interface MeasuredThread {
  /** Processor time of this process from the first turn to the last, in milliseconds. */
  readonly cpuMs: number;
  readonly elapsedMs: number;
  /** Number of messages in the thread at its end. */
  readonly messages: number;
}

interface OpenSaver {
  readonly saver: BaseCheckpointSaver;
  close(): Promise<unknown>;
}

const [name = "", turns = "1", address = "", packages = ""] = process.argv.slice(2);

/** Functions that open savers, by name. */
const savers: Readonly<Record<string, () => Promise<OpenSaver>>> = {
  async MemorySaver() {
    return { saver: new MemorySaver(), close: async () => undefined };
  },
  async SqliteSaver() {
    const { SqliteSaver } = await importSaver("@langchain/langgraph-checkpoint-sqlite");
    const saver = SqliteSaver.fromConnString(join(address, "checkpoints.sqlite"));
    return { saver, close: async () => saver.db.close() };
  },
  async PostgresSaver() {
    const { PostgresSaver } = await importSaver("@langchain/langgraph-checkpoint-postgres");
    const saver = PostgresSaver.fromConnString(address);
    await saver.setup();
    return { saver, close: () => saver.end() };
  },
  async files() {
    const store = fileStore({ sessionDir: address });
    return { saver: new SessionTreeSaver(store), close: () => store.close() };
  },
  async SQLite() {
    const { default: Database } = await importSaver("better-sqlite3");
    const database = new Database(join(address, "sessions.sqlite"));
    const store = sqliteStore({ database });
    const close = async () => {
      await store.close();
      database.close();
    };
    return { saver: new SessionTreeSaver(store), close };
  },
  async PostgreSQL() {
    const client = new pg.Pool({ connectionString: address });
    await migrateDatabase({ client });
    const store = postgresStore({ client });
    const close = async () => {
      await store.close();
      await client.end();
    };
    return { saver: new SessionTreeSaver(store), close };
  },
};

/** Imports a package that is not our dependency. */
async function importSaver(name: string) {
  const path = createRequire(join(packages, "package.json")).resolve(name);
  return import(pathToFileURL(path.replace(/\.cjs$/, ".js")).href);
}

const TEXT = "the agent reads a file and finds that the test fails ";
const thread = { configurable: { thread_id: "bench" } };

/** Creates a graph of two nodes that adds an answer with a tool call, and its result, to the messages of each turn. */
function makeGraph(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode("answer", ({ messages }) => {
      const id = `${messages.length}`;
      const tool_calls = [{ id: `call-${id}`, name: "read", args: { path: `src/file-${id}.ts` } }];
      const usage_metadata = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
      return { messages: [new AIMessage({ id: `a${id}`, content: TEXT, tool_calls, usage_metadata })] };
    })
    .addNode("tool", ({ messages }) => {
      const id = `${messages.length - 1}`;
      return { messages: [new ToolMessage({ id: `t${id}`, content: TEXT, tool_call_id: `call-${id}` })] };
    })
    .addEdge(START, "answer")
    .addEdge("answer", "tool")
    .addEdge("tool", END)
    .compile({ checkpointer });
}

const open = savers[name];
if (open === undefined) throw new Error(`no saver ${name}: ${Object.keys(savers).join(", ")}`);
const { saver, close } = await open();
const graph = makeGraph(saver);
const cpu = process.cpuUsage();
const start = performance.now();
let messages = 0;
for (let turn = 1; turn <= Number(turns); turn++) {
  const question = new HumanMessage({ id: `h${turn}`, content: `${TEXT}${turn}` });
  messages = (await graph.invoke({ messages: [question] }, thread)).messages.length;
}
await close();
const { user, system } = process.cpuUsage(cpu);
const measured: MeasuredThread = {
  cpuMs: (user + system) / 1e3,
  elapsedMs: performance.now() - start,
  messages,
};
console.log(JSON.stringify(measured));
