import { expect, test } from "vitest";
import type { CliStream } from "../../../src/apps/cli/io.ts";
import { Output } from "../../../src/apps/cli/output.ts";

function output(stream: Partial<CliStream>, env: { [name: string]: string } = {}) {
  const written: string[] = [];
  return { out: new Output({ write: (text: string) => written.push(text), ...stream }, env), written };
}

test.each([
  ["a terminal", { isTTY: true }, {}, true],
  ["a pipe", {}, {}, false],
  ["NO_COLOR", { isTTY: true }, { NO_COLOR: "1" }, false],
  ["an empty NO_COLOR", { isTTY: true }, { NO_COLOR: "" }, true],
  ["FORCE_COLOR", {}, { FORCE_COLOR: "1" }, true],
  ["an empty FORCE_COLOR", {}, { FORCE_COLOR: "" }, true],
  ["FORCE_COLOR=0", { isTTY: true }, { FORCE_COLOR: "0" }, false],
  ["NO_COLOR and FORCE_COLOR", { isTTY: true }, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
  ["a dumb terminal", { isTTY: true }, { TERM: "dumb" }, false],
])("colors with %s: %o %o", (_what, stream, env, expected) => {
  expect(output(stream, env).out.colors.bold("x") !== "x").toBe(expected);
});

test.each([
  ["a terminal's own", { isTTY: true, columns: 132 }, { COLUMNS: "99" }, 132],
  ["80 if unknown", { isTTY: true }, {}, 80],
  ["COLUMNS", { isTTY: true }, { COLUMNS: "99" }, 99],
  ["COLUMNS without sense", { isTTY: true }, { COLUMNS: "wide" }, 80],
  ["a terminal of none", { isTTY: true, columns: 0 }, {}, 80],
  ["a terminal that is too narrow", { isTTY: true, columns: 7 }, {}, 40],
])("the width is %s", (_what, stream, env, expected) => {
  expect(output(stream, env).out.width).toBe(expected);
});

test("lines in a pipe have no maximum width, unless laid out", () => {
  const { out } = output({ columns: 132 }, { COLUMNS: "99" });
  expect([out.width, out.columns, out.isLaidOut]).toEqual([Number.POSITIVE_INFINITY, 99, false]);
  out.layOut();
  expect([out.width, out.isLaidOut]).toEqual([99, true]);
});

test("buffers text, and writes it in pieces or on request", () => {
  const { out, written } = output({});
  out.line("one");
  out.json({ two: "\u009b" });
  expect(written).toEqual([]);
  out.flush();
  out.flush();
  expect(written).toEqual(['one\n{"two":"\\u009b"}\n']);
  out.text("x".repeat(100_000));
  expect(written).toHaveLength(2);
});
