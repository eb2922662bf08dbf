import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { claimFile, TableThread } from "../../../src/catalog/search/table-thread.ts";
import { TermTableReader } from "../../../src/catalog/search/term-tables.ts";
import { closeFile, openToScan, toFileMark } from "../../../src/session/files/file-mark.ts";
import { listSessionFiles, type SessionFile } from "../../../src/session/files/session-files.ts";
import { Pace } from "../../../src/session/files/time-slices.ts";
import { buildProgram } from "../../support/build-program.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Chain, header, put } from "../support/sessions.ts";

let program: URL;
beforeAll(async () => {
  program = await buildProgram("src/catalog/search/table-worker.ts");
});

/** Creates three sessions, a file that is not one, and a missing one; their stated size makes a thread worthwhile. */
function makeFiles(): SessionFile[] {
  const folder = temporaryFolder();
  for (const id of ["a", "b", "c"])
    put(join(folder, `${id}.jsonl`), new Chain(header({ id })).user(`the ${id} zebrafish`).text);
  writeFileSync(join(folder, "d.jsonl"), "not a session\n");
  const files = [...listSessionFiles(folder, () => undefined)].sort((x, y) => (x.path < y.path ? -1 : 1));
  const gone = files.slice(0, 1).map((file) => ({ ...file, path: join(folder, "gone.jsonl") }));
  return [...files, ...gone].map((file) => ({ ...file, size: 8 * 1024 * 1024 }));
}

function start(files: readonly SessionFile[], from: URL | undefined = program) {
  const thread = TableThread.start(files, from);
  onTestFinished(() => thread?.stop());
  return thread;
}

async function readHere({ path }: SessionFile) {
  const open = openToScan(path);
  const table = await new TermTableReader(new Pace()).readFile(open);
  closeFile(open);
  return table && { mark: toFileMark(open), bytes: table.bytes };
}

describe("a thread that reads words", () => {
  test("reads what this thread reads, and skips what it cannot read", async () => {
    const files = makeFiles();
    const thread = start(files);
    await thread?.ended;
    const read = await Promise.all(files.map((file) => thread?.take(file)));
    const [a, b, c, d] = await Promise.all(files.slice(0, 4).map(readHere));
    expect(read).toEqual([a, b, c, undefined, undefined]);
    expect([a?.bytes.length, d]).toEqual([expect.any(Number), undefined]);
  });

  test("reads no file that the caller has claimed or that it does not have", async () => {
    const files = makeFiles().slice(0, 3);
    const thread = start(files);
    const [first] = files;
    await thread?.ended;
    expect(first && (await thread?.take({ ...first }))).toBeUndefined();
    expect(first && (await thread?.take(first))).toEqual(first && (await readHere(first)));
  });

  test("claims a file once", () => {
    const claims = new Int32Array(2);
    expect([claimFile(claims, 1), claimFile(claims, 1), claimFile(claims, 0)]).toEqual([true, false, true]);
  });

  test("is not started for a few bytes, or without its program", async () => {
    const files = makeFiles();
    expect(start(files.slice(0, 1))).toBeUndefined();
    expect(start(files, new URL("missing.js", program))).toBeUndefined();
    expect(start(files, new URL("https://example.com/program.js"))).toBeUndefined();
  });

  test("leaves the rest to the caller if it fails", async () => {
    const path = join(temporaryFolder(), "failing.mjs");
    writeFileSync(
      path,
      `import { workerData } from "node:worker_threads";
      Atomics.store(workerData.claims, 1, 1);
      throw new Error("no memory");`,
    );
    const files = makeFiles();
    const thread = start(files, pathToFileURL(path));
    const [, second] = files;
    expect(second && (await thread?.take(second))).toBeUndefined();
  });
});
