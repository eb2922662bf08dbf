/** Writes docs/api anew: to be run when a docstring or what can be imported has changed. */
import { join } from "node:path";
import { API_FOLDER, writeApiReference } from "../contract/support/api-reference.ts";
import { ROOT } from "../contract/support/repository.ts";

writeApiReference(join(ROOT, API_FOLDER));
