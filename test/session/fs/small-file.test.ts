import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replaceSmallFile } from "../../../src/session/fs/small-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("a file is replaced through links, keeps its permissions, and leaves nothing else", () => {
  const folder = temporaryFolder();
  const file = join(folder, "file");
  writeFileSync(file, "old");
  chmodSync(file, 0o640);
  symlinkSync("file", join(folder, "link"));
  replaceSmallFile(join(folder, "link"), "new");
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["new", 0o640]);
  replaceSmallFile(join(folder, "other"), "made", 0o600);
  expect(statSync(join(folder, "other")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).sort()).toEqual(["file", "link", "other"]);
});
