import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "vitest";
import { type FileStoreOptions, fileStore } from "../../../src/stores/file/file-store.ts";
import { sessionStoreSuite } from "../../../src/stores/suite/store-suite.ts";
import { removeFolder } from "../../support/remove-folder.ts";

function makeIn(folder: string, options: FileStoreOptions) {
  const given = { ...options, deletesForGood: true };
  return {
    store: fileStore(given),
    another: () => fileStore(given),
    dispose: () => removeFolder(folder),
  };
}

describe("fileStore in one folder", () => {
  sessionStoreSuite({
    test,
    factory: () => {
      const folder = mkdtempSync(join(tmpdir(), "sessiontree-store-"));
      return makeIn(folder, { sessionDir: folder });
    },
    without: ["backend", "faults"],
  });
});

describe("fileStore with a folder for each project", () => {
  sessionStoreSuite({
    test,
    factory: () => {
      const folder = mkdtempSync(join(tmpdir(), "sessiontree-store-"));
      return makeIn(folder, { agentDir: folder });
    },
    without: ["backend", "faults"],
  });
});
