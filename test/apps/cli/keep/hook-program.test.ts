import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { findHookProgram } from "../../../../src/apps/cli/keep/hook-program.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const RUNNING = { env: {}, execPath: "/usr/bin/node", script: "/opt/a b/bin.js", dir: undefined };

test("hooks call the program by name if it is in the PATH", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "sessiontree"), "");
  const PATH = ["", "/missing", folder].join(delimiter);
  expect(findHookProgram({ ...RUNNING, env: { PATH } })).toEqual({ start: "sessiontree", end: "" });
});

test("otherwise by path, and through npx as npx runs it, even though its folder is in the PATH then", () => {
  const folder = join(temporaryFolder(), "_npx", "1a2b", "node_modules", ".bin");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "sessiontree"), "");
  const env = { PATH: folder };
  expect(findHookProgram({ ...RUNNING, env }).start).toBe("/usr/bin/node '/opt/a b/bin.js'");
  const script = join(folder, "sessiontree");
  expect(findHookProgram({ ...RUNNING, env, script }).start).toBe("npx --prefer-offline -y sessiontree");
  expect(findHookProgram({ ...RUNNING, dir: "/a b" }).end).toBe("--dir '/a b'");
});
