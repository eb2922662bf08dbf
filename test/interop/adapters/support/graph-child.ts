/** Runs a graph one step further in this process: node graph-child.mjs STEP FOLDER_OR_URL */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { HumanMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { openPostgresStore } from "sessiontree/postgres";
import { fileStore } from "sessiontree/stores";
import { CART, clerk, readStates } from "./clerk.ts";

const [step = "", address = ""] = process.argv.slice(2);

/** Returns the graph's input: null to continue from where another process ended. */
function makeInput(step: string): Parameters<ReturnType<typeof clerk>["invoke"]>[0] {
  if (step === "resume") return new Command({ resume: "yes" });
  if (step === "continue") return null;
  return { messages: [new HumanMessage({ id: "h1", content: "Why is the cart empty?" })] };
}

/** Sends a message to the parent in one synchronous write. */
function say(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

/** Waits until the parent closes stdin; other children are killed. */
async function dismissal(): Promise<void> {
  process.stdin.resume();
  await once(process.stdin, "end");
}

/** Reads no file, because the process is killed in the meantime. */
async function neverRead(): Promise<string> {
  say("reading");
  await dismissal();
  return "nobody killed the process";
}

const isFolder = !address.startsWith("postgres:");
const store = isFolder ? fileStore({ sessionDir: address }) : await openPostgresStore(address);
const graph = clerk(store, step === "begin" ? neverRead : undefined);
await graph.invoke(makeInput(step), { ...CART, durability: "sync" });
say(await readStates(graph));
await dismissal();
await store.close();
