import { expect, test } from "vitest";
import { assertKnownName, makeUnknownNameError } from "../../../src/core/format/known-names.ts";

const getMessage = (name: unknown, known: readonly string[]) =>
  makeUnknownNameError("option", name, known).message;

test.each([
  ["dryRun", ["isDryRun", "fs"], "isDryRun"],
  ["session_dir", ["cacheDir", "sessionDir"], "sessionDir"],
  ["session_compact_faild", ["session_compact", "session_compact_failed"], "session_compact_failed"],
  ["Permanent", ["permanent", "force"], "permanent"],
])("an error for %j names %j that was probably meant", (name, known, meant) => {
  expect(getMessage(name, known)).toContain(
    `Unknown option "${name}"; did you mean "${meant}"? The options are "`,
  );
});

test.each([
  ["a name that resembles no other", "folder", 'Unknown option "folder". '],
  ["a part of a name", "dir", 'Unknown option "dir". '],
  ["a short name, of which every other is a change", "cwd", 'Unknown option "cwd". '],
  ["a part that is too short", "s", 'Unknown option "s". '],
  ["a value that is not a string", null, "Unknown option null. "],
  ["a long string, which may be private", "x".repeat(50), "Unknown option a longer string. "],
])("an error for %s only lists the names", (_case, name, message) => {
  expect(getMessage(name, ["sessionDir", "cacheDir", "now"])).toBe(
    `${message}The options are "sessionDir", "cacheDir", "now".`,
  );
});

test("known names are accepted, and inherited ones are not", () => {
  expect(() => assertKnownName("event", "closed", ["closed"])).not.toThrow();
  expect(() => assertKnownName("event", "toString", ["closed"])).toThrow(TypeError);
});
