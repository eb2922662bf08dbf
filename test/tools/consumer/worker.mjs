// A store on a platform without files and a trash, such as a worker: bundled and run by check-bundles.ts.
import { memoryStore } from "sessiontree/stores";

const store = memoryStore();
const session = await store.create({ cwd: "/project" });
session.appendMessage({ role: "user", content: "Hello", timestamp: 1 });
await session.flush();

let count = 0;
for await (const _ of store.list({ scope: "all" })) count++;
console.log(`${count} session in memory`);
await store.close();
