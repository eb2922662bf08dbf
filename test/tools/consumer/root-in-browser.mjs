// What somebody does who takes the root for a browser: bundled and run by check-bundles.ts, it says what to import.
import { buildSessionContext, SessionManager } from "sessiontree";

console.log(SessionManager.inMemory("/project"), buildSessionContext([]));
