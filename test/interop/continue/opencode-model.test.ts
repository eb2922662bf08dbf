import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findOpenCodeModel } from "../../../src/interop/continue/opencode-model.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Creates a home folder with files. */
function makeHome(files: Readonly<Record<string, unknown>>): string {
  const home = temporaryFolder();
  for (const [path, value] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof value === "string" ? value : JSON.stringify(value));
  }
  return home;
}

const SETTINGS = ".config/opencode/opencode.json";
const STATE = ".local/state/opencode/model.json";
const RECENT = { recent: [{ providerID: "openrouter", modelID: "a/b" }] };

test("prefers the model in the settings to the one used last", () => {
  expect(findOpenCodeModel({}, makeHome({ [SETTINGS]: { model: "test/m" }, [STATE]: RECENT }))).toBe(
    "test/m",
  );
  expect(findOpenCodeModel({}, makeHome({ [SETTINGS]: {}, [STATE]: RECENT }))).toBe("openrouter/a/b");
});

test("reads the folders that variables name", () => {
  const home = makeHome({ "c/opencode/opencode.json": {}, "s/opencode/model.json": RECENT });
  expect(findOpenCodeModel({ XDG_STATE_HOME: join(home, "s") }, "/nowhere")).toBe("openrouter/a/b");
  const settings = makeHome({ "c/opencode/opencode.json": { model: "test/m" } });
  expect(findOpenCodeModel({ XDG_CONFIG_HOME: join(settings, "c") }, "/nowhere")).toBe("test/m");
});

test.each([{}, { [SETTINGS]: "// comments\n{}" }, { [SETTINGS]: { model: "m" }, [STATE]: { recent: [7] } }])(
  "returns none without either: %j",
  (files) => {
    expect(findOpenCodeModel({}, makeHome(files))).toBeUndefined();
  },
);
