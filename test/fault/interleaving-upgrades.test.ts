import { OLD, OPERATIONS, testInterleaving } from "./support/interleaving.ts";

// Sessions that have not upgraded the file hold nothing to flush.
const names = OPERATIONS.map(([name]) => name).filter((name) => name !== "flush" && name !== "close");

testInterleaving(OLD, names);
