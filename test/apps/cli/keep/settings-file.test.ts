import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  readSettingsFile,
  removeSettingsFile,
  replaceSettingsFile,
  withBackup,
} from "../../../../src/apps/cli/keep/settings-file.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

test("a file changed since it was read is neither replaced nor removed", () => {
  const folder = temporaryFolder();
  const path = join(folder, "settings.json");
  const missing = readSettingsFile(path);
  writeFileSync(path, "one");
  const read = readSettingsFile(path);
  writeFileSync(path, "two");
  for (const file of [missing, read]) {
    expect(replaceSettingsFile(file, Buffer.from("ours"))).toBe(false);
    expect(removeSettingsFile(file)).toBe(false);
  }
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(readdirSync(folder)).toEqual(["settings.json"]);
  expect(replaceSettingsFile(readSettingsFile(path), Buffer.from("ours"))).toBe(true);
  expect(readFileSync(path, "utf8")).toBe("ours");
});

test("keeps a copy only if the file was edited, and never replaces another copy", () => {
  const folder = temporaryFolder();
  const path = join(folder, "a");
  writeFileSync(path, "one");
  const file = readSettingsFile(path);
  expect(withBackup(file, () => false)).toBeUndefined();
  const fail = () => {
    throw new TypeError("no");
  };
  expect(() => withBackup(file, fail)).toThrow("no");
  expect(readdirSync(folder)).toEqual(["a"]);
  expect(withBackup(file, () => true)).toBe(`${path}.sessiontree-backup`);
  expect(withBackup(file, () => true)).toBe(`${path}.sessiontree-backup.1`);
});

test("rejects anything but a plain file, and reports errors of the system as problems of the settings", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "a"));
  expect(() => readSettingsFile(join(folder, "a"))).toThrow("it is not a plain file");
  writeFileSync(join(folder, "b"), "");
  expect(() => readSettingsFile(join(folder, "b", "c"))).toThrow("the system refuses it (ENOTDIR");
});
