import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileStore, memoryStore } from "sessiontree/stores";
import { afterAll } from "vitest";
import { removeFolder } from "../../support/remove-folder.ts";
import { validateSaver } from "./support/langgraph-validation.ts";

const folder = mkdtempSync(join(tmpdir(), "sessiontree-"));
let stores = 0;

validateSaver("files", () => fileStore({ sessionDir: join(folder, `${stores++}`), deletesForGood: true }));
validateSaver("memory", () => memoryStore());

afterAll(() => removeFolder(folder));
