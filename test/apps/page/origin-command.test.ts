import { expect, test } from "vitest";
import { CONTINUING_PROGRAMS } from "../../../src/apps/page/model/origin-command.ts";
import { CONTINUING_AGENTS } from "../../../src/interop/continue/exported-session.ts";

test("the page offers the programs in which the command line continues a session", () => {
  expect([...CONTINUING_PROGRAMS].sort()).toEqual([...CONTINUING_AGENTS].sort());
});
