import { expect, test } from "vitest";
import { findCallFiles } from "../../../src/core/facts/touched-files.ts";

test.each<[name: string, input: unknown, files: [path: string, isChanged: boolean][]]>([
  ["read", { path: "a.ts" }, [["a.ts", false]]],
  ["Edit", { file_path: "/p/a.ts", old_string: "x" }, [["/p/a.ts", true]]],
  ["write_file", { file_path: "C:\\p\\a.ts" }, [["C:\\p\\a.ts", true]]],
  [
    "read_many_files",
    { paths: ["a", 3, "", "b"] },
    [
      ["a", false],
      ["b", false],
    ],
  ],
  [
    "apply_patch",
    { input: "*** Begin Patch\n*** Update File: src/a.ts\n@@\n*** Add File: b.ts\n" },
    [
      ["src/a.ts", true],
      ["b.ts", true],
    ],
  ],
  ["shell", { command: ["apply_patch", "*** Begin Patch\n*** Delete File: c.ts\n"] }, [["c.ts", true]]],
  ["bash", { command: "cat a.ts" }, []],
  ["odd", null, []],
])("%s names its files", (name, input, files) => {
  expect(findCallFiles({ name, input }).map(({ path, isChanged }) => [path, isChanged])).toEqual(files);
});
