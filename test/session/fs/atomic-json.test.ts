import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { readAtomicJson, writeAtomicJson } from "../../../src/session/fs/atomic-json.ts";
import { IS_WINDOWS } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let folder = "";

beforeEach(() => {
  folder = temporaryFolder();
});

test("the bytes next to a value are compared on access, and affect nothing else", async () => {
  const path = join(temporaryFolder(), "a.json");
  const bytes = Uint8Array.from({ length: 300 }, (_, i) => i);
  await writeAtomicJson(path, { a: 1 }, { text: "one\ntwo", bytes });
  const kept = readAtomicJson(path);
  expect(kept).toMatchObject({ value: { a: 1 }, text: "one\ntwo" });
  expect(Buffer.from(kept?.bytes() ?? []).equals(bytes)).toBe(true);
  const file = readFileSync(path);
  file[file.length - 9] = 0;
  writeFileSync(path, file);
  const damaged = readAtomicJson(path);
  expect(damaged).toMatchObject({ value: { a: 1 }, text: "one\ntwo" });
  expect(damaged?.bytes()).toBeUndefined();
  for (const cut of [file.subarray(0, -1), Buffer.concat([file, Buffer.from("x")]), file.subarray(0, 100)]) {
    writeFileSync(path, cut);
    expect(readAtomicJson(path)).toBeUndefined();
  }
});

test("a value is read back from a JSON file in a folder that was created", async () => {
  const path = join(folder, "deep", "er", "a.json");
  const value = { text: 'é🙂"\\\n', list: [1, null, { a: true }] };
  await writeAtomicJson(path, value);
  expect(readAtomicJson(path)).toMatchObject({ value, text: "" });
  expect(JSON.parse(readFileSync(path, "utf8"))).toHaveProperty("data", value);
});

test.skipIf(IS_WINDOWS)("the file has mode 0600, whatever file it replaces", async () => {
  const path = join(folder, "sub", "a.json");
  await writeAtomicJson(path, {});
  expect(statSync(join(folder, "sub")).mode & 0o777).toBe(0o700);
  writeFileSync(join(folder, "open.json"), "{}", { mode: 0o644 });
  for (const name of ["sub/a.json", "open.json"]) {
    await writeAtomicJson(join(folder, name), { a: 1 });
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  }
});

test("any changed, missing, or added byte is detected", async () => {
  const path = join(folder, "a.json");
  await writeAtomicJson(path, { count: 12 });
  const bytes = readFileSync(path);
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    writeFileSync(path, changed);
    expect(readAtomicJson(path)).toBeUndefined();
    writeFileSync(path, bytes.subarray(0, at));
    expect(readAtomicJson(path)).toBeUndefined();
  }
  writeFileSync(path, `${bytes}\n`);
  expect(readAtomicJson(path)).toBeUndefined();
});

test.skipIf(IS_WINDOWS)("a pipe in its place is ignored, without waiting", async () => {
  const path = join(folder, "pipe.json");
  execFileSync("mkfifo", [path]);
  expect(readAtomicJson(path)).toBeUndefined();
  await writeAtomicJson(path, { a: 1 });
  expect(readAtomicJson(path)).toMatchObject({ value: { a: 1 }, text: "" });
});

test("a missing file has no value", () => {
  expect(readAtomicJson(join(folder, "none.json"))).toBeUndefined();
});

test("concurrent writers leave one complete file and no other", async () => {
  const path = join(folder, "a.json");
  const text = "x".repeat(100_000);
  await Promise.all(Array.from({ length: 20 }, (_, writer) => writeAtomicJson(path, { writer, text })));
  expect(readAtomicJson(path)?.value).toMatchObject({ text });
  expect(readdirSync(folder)).toEqual(["a.json"]);
});

test("a failure keeps the previous file", async () => {
  const path = join(folder, "a.json");
  mkdirSync(path);
  await expect(writeAtomicJson(path, {})).rejects.toMatchObject({ code: IS_WINDOWS ? "EPERM" : "EISDIR" });
  expect(readdirSync(folder)).toEqual(["a.json"]);
});
