import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createProgram, diagnose, inventedPath } from "../contract/support/compiler.ts";
import { piConsumer } from "./support/pi-consumer.ts";
import { fetchPiDeclarations, PI_SCHEMA } from "./support/pi-packages.ts";

const folder = mkdtempSync(join(tmpdir(), "sessiontree-pi-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("our types and pi's are mutually assignable, and our functions are assignable to pi's", (context) => {
  const paths = fetchPiDeclarations(folder);
  if (typeof paths === "string") {
    // Continuous integration must not pass because the check was skipped.
    if (process.env["SESSIONTREE_WITH_REGISTRY"]) throw new Error(paths);
    return context.skip(paths);
  }
  const { text, wrong } = piConsumer();
  const path = inventedPath("pi-consumer.ts");
  const invented = new Map([
    [path, text],
    [inventedPath("pi-schema.d.ts"), PI_SCHEMA],
  ]);
  const program = createProgram([], invented, paths);
  const lines = text.split("\n");
  const faults = diagnose(program, path).map(({ line, message }) => ({
    text: lines[line - 1] ?? "",
    message,
  }));
  const isExpected = (fault: { text: string }) => wrong.some((name) => fault.text.includes(`const ${name}:`));
  expect(faults.filter((fault) => !isExpected(fault))).toEqual([]);
  expect(faults.filter(isExpected)).toHaveLength(wrong.length);
});
