// A program that imports the root for a browser: bundled and run by check-bundles.ts, its error names what to import.
import { buildSessionContext, SessionManager } from "sessiontree";

console.log(SessionManager.inMemory("/project"), buildSessionContext([]));
