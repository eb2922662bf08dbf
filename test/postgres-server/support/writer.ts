/**
 * A process that appends to a session: node writer.ts URL SESSION NAME COUNT
 *
 * Reports that it is ready, and starts when its input ends.
 */
import { once } from "node:events";
import { openPostgresStore } from "../../../src/stores/postgres/open-postgres-store.ts";

const [url = "", id = "", name = "", count = "0"] = process.argv.slice(2);
const store = await openPostgresStore(url, { maxConnections: 2 });
const session = await store.open(id);
console.log("ready");
process.stdin.resume();
await once(process.stdin, "end");
for (let n = 0; n < Number(count); n++) {
  session.appendMessage({ role: "user", content: `${name} ${n}`, timestamp: n });
  if (n % 10 === 0) await session.flush();
}
await session.flush();
console.log(JSON.stringify({ branch: session.getBranch().length, leaf: session.getLeafId() }));
await store.close();
