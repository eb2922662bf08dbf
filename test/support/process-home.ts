import { mkdirSync } from "node:fs";
import { join } from "node:path";

const homes = process.env["SESSIONTREE_TEST_HOMES"];
if (homes === undefined) throw new Error("the global set-up of the tests names the folder of the homes");

/** Home folder of the tests of this process. The trash package reads it once for each process. */
export const PROCESS_HOME = join(homes, String(process.pid));

/** `XDG_DATA_HOME` of these tests. */
export const PROCESS_DATA = join(PROCESS_HOME, "data");

mkdirSync(PROCESS_DATA, { recursive: true });

// Before every test file: deletions and imports of a test never reach the user's own folder.
process.env["XDG_DATA_HOME"] = PROCESS_DATA;
