import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { copyOpenFile, makeUnderFreeName, writeWhole } from "../../../src/session/fs/write-whole.ts";
import { watchedFs } from "../../fault/support/faulty-fs.ts";
import { names, place, sandbox, snapshot } from "../../fault/support/sandbox.ts";

const fs = watchedFs(() => undefined);

/** File system without hard links. */
const withoutLinks = watchedFs((name) => {
  if (name === "linkSync") throw Object.assign(new Error("injected"), { code: "EPERM" });
});

describe("writing a whole file", () => {
  test("joins the pieces, of any kind and number", () => {
    const path = join(sandbox(), "a");
    const pieces = Array.from({ length: 3000 }, (_, i) => (i % 2 === 0 ? `${i}€\n` : Buffer.from(`${i}\n`)));
    writeWhole({ fs, path, pieces });
    expect(readFileSync(path, "utf8")).toBe(pieces.map(String).join(""));
    expect(names(dirname(path))).toEqual(["a"]);
  });

  test("copies pieces whose buffer is reused", () => {
    const path = join(sandbox(), "a");
    const buffer = Buffer.alloc(1);
    function* pieces() {
      for (const letter of "abc") {
        buffer.write(letter);
        yield buffer;
      }
    }
    writeWhole({ fs, path, pieces: pieces() });
    expect(readFileSync(path, "utf8")).toBe("abc");
  });

  test.each([
    ["with second names", fs],
    ["without second names", withoutLinks],
  ])("rejects an existing file at the path, on a disk %s", (_name, given) => {
    const path = place(sandbox(), "a", "old");
    const before = snapshot(path);
    const write = () => writeWhole({ fs: given, path, pieces: ["new"] });
    expect(write).toThrow(expect.objectContaining({ code: "EEXIST" }));
    expect(snapshot(path)).toEqual(before);
    expect(names(dirname(path))).toEqual(["a"]);
    const other = join(dirname(path), "b");
    writeWhole({ fs: given, path: other, pieces: ["new"] });
    expect(readFileSync(other, "utf8")).toBe("new");
    expect(names(dirname(path))).toEqual(["a", "b"]);
  });

  test("leaves no file if it is rejected or its pieces throw", () => {
    const path = join(sandbox(), "a");
    const seen: string[] = [];
    const verify = (temporary: string) => {
      seen.push(readFileSync(temporary, "utf8"));
      throw new RangeError("wanting");
    };
    function* failing() {
      yield "half";
      throw new RangeError("no more");
    }
    expect(() => writeWhole({ fs, path, pieces: ["new"], verify })).toThrow("wanting");
    expect(() => writeWhole({ fs, path, pieces: failing() })).toThrow("no more");
    expect(seen).toEqual(["new"]);
    expect(names(dirname(path))).toEqual([]);
  });
});

test("an open file is copied to a path only if no file exists there", () => {
  const source = place(sandbox(), "a", "content");
  const fd = fs.openSync(source, "r");
  const target = join(dirname(source), "b");
  copyOpenFile(fs, fd, target);
  const taken = place(dirname(source), "c", "mine");
  copyOpenFile(fs, fd, taken);
  fs.closeSync(fd);
  expect(readFileSync(target, "utf8")).toBe("content");
  expect(readFileSync(taken, "utf8")).toBe("mine");
});

test("a free name is found after any number of others, and other errors end the search", () => {
  const folder = sandbox();
  for (let i = 0; i < 12; i++) {
    const path = makeUnderFreeName(join(folder, "a"), (free) => fs.closeSync(fs.openSync(free, "wx")));
    expect(basename(path)).toBe(i === 0 ? "a" : `a.${i}`);
  }
  expect(() => makeUnderFreeName(join(folder, "missing/a"), (free) => fs.openSync(free, "wx"))).toThrow(
    /ENOENT/,
  );
});
