import { OPERATIONS, SESSION, testInterleaving } from "./support/interleaving.ts";

// There is nothing to upgrade in it, and therefore no call of the file system.
const names = OPERATIONS.map(([name]) => name).filter((name) => name !== "upgrade");

testInterleaving(SESSION, names);
