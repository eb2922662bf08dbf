import { expect, test } from "vitest";
import { CONTINUING_PROGRAMS, findOriginCommand } from "../../../src/apps/page/model/origin-command.ts";
import type { CustomEntry, SessionHeader } from "../../../src/core.ts";
import { CONTINUING_AGENTS } from "../../../src/interop/continue/exported-session.ts";

const TIMESTAMP = "2026-02-03T09:00:00.000Z";

/** An imported session of Claude Code, or a fork of it that was created later in another folder. */
function imported(header: Partial<SessionHeader> = {}) {
  const origin: CustomEntry = {
    ...{ type: "custom", id: "a", parentId: null, timestamp: TIMESTAMP },
    ...{ customType: "sessiontree.import", data: { source: "claude-code", sourceId: "c1" } },
  };
  return {
    header: { type: "session", version: 3, id: "s", timestamp: TIMESTAMP, cwd: "/p/own", ...header } as const,
    entryAt: () => origin,
  };
}

test("the page offers the programs in which the command line continues a session", () => {
  expect([...CONTINUING_PROGRAMS].sort()).toEqual([...CONTINUING_AGENTS].sort());
});

test("an imported session continues in its program and its folder", () => {
  expect(findOriginCommand(imported(), "/s.jsonl")).toMatchObject({
    source: "claude-code",
    words: ["claude", "--resume", "c1"],
    folder: "/p/own",
  });
});

test("a fork of an imported session is not offered the original's ID, which its program has in another folder", () => {
  const fork = imported({ timestamp: "2026-02-04T09:00:00.000Z", cwd: "/p/other" });
  expect(findOriginCommand(fork, "/s.jsonl")).toMatchObject({
    source: "pi",
    words: ["pi", "--session", "/s.jsonl"],
    folder: "",
  });
});

test.each(["-", "D:\\", "\\\\srv\\share", "/p/two  spaces", "/p/line\nbreak", ""])(
  "does not change to the folder %j",
  (cwd) => {
    expect(findOriginCommand(imported({ cwd }), "/s.jsonl")?.folder).toBe("");
  },
);
