/** Regenerates docs/api; run it after changing a docstring or an export. */
import { join } from "node:path";
import { API_FOLDER, writeApiReference } from "../contract/support/api-reference.ts";
import { ROOT } from "../contract/support/repository.ts";

writeApiReference(join(ROOT, API_FOLDER));
