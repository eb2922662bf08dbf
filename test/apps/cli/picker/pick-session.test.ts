import { Readable } from "node:stream";
import pc from "picocolors";
import { expect, test } from "vitest";
import { type PickerWorld, pickSession } from "../../../../src/apps/cli/picker/pick-session.ts";
import type { PickerRow } from "../../../../src/apps/cli/picker/state.ts";
import { loadWidths } from "../../../../src/apps/cli/text/width.ts";
import { FakeTerminal } from "../support/terminal.ts";

await loadWidths();

const NOW_MS = Date.parse("2026-02-10T12:00:00.000Z");

function info(number: number): PickerRow {
  const modified = new Date(NOW_MS - number * 60_000);
  return {
    path: `/sessions/${number}.jsonl`,
    id: `id-${number}`,
    cwd: "/projects/demo",
    created: modified,
    modified,
    messageCount: number,
    kinship: "",
    title: `Message ${number}`,
    firstMessage: `Message ${number}`,
  };
}

/** A promise that a test resolves. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A picker that runs in an isolated environment. */
function start(find: PickerWorld["find"], more: Partial<PickerWorld> = {}) {
  const terminal = new FakeTerminal();
  const chosen = pickSession({
    terminal,
    colors: pc.createColors(false),
    scope: "project",
    nowMs: () => NOW_MS,
    find,
    search: () => Readable.from([]),
    preview: (path) => [{ word: "user", text: `Last of ${path}` }],
    rename: async () => undefined,
    remove: async () => undefined,
    ...more,
  });
  return { terminal, chosen };
}

test("shows sessions that can be chosen while it searches for others", async () => {
  const { opened, open } = gate();
  let wasStopped = false;
  const { terminal, chosen } = start(async function* () {
    try {
      yield info(2);
      yield info(1);
      await opened;
      yield info(0);
    } finally {
      wasStopped = true;
    }
  });
  await terminal.shows("Sessions of this project  2 …");
  await terminal.shows("Last of /sessions/1.jsonl");
  terminal.press("\u001b[B");
  await terminal.shows(/^❯ .*Message 2$/);
  terminal.press("\r");
  expect((await chosen)?.path).toBe("/sessions/2.jsonl");
  const shown = terminal.written;
  open();
  await expect.poll(() => wasStopped).toBe(true);
  // Later results are not drawn.
  expect(terminal.written).toBe(shown);
});

test("late results of an earlier search are not shown among those of the next", async () => {
  const { opened, open } = gate();
  const signals: AbortSignal[] = [];
  const { terminal, chosen } = start(async function* (scope, signal) {
    signals.push(signal);
    if (scope === "project") {
      await opened;
      yield info(7);
    } else yield info(1);
  });
  await terminal.shows("Looking for sessions");
  terminal.press("\t");
  await terminal.shows("Sessions of all projects  1");
  open();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  terminal.press("M");
  await terminal.shows("> M");
  expect(terminal.written).not.toContain("Message 7");
  terminal.press("\u0003");
  expect(await chosen).toBeUndefined();
});

test("an error in the search for sessions is thrown after the terminal is restored", async () => {
  const { terminal, chosen } = start(async function* () {
    yield info(1);
    throw new Error("no such disk");
  });
  await expect(chosen).rejects.toThrow("no such disk");
  expect(terminal.rawModes).toEqual([true, false]);
});

test("shows an error of a single session", async () => {
  const refuse = async () => {
    throw new Error("it is\u001b[2J read-only");
  };
  const preview = () => {
    throw new Error("no preview of it");
  };
  const { terminal, chosen } = start(
    async function* () {
      yield info(1);
    },
    { rename: refuse, remove: refuse, preview },
  );
  await terminal.shows("no preview of it");
  terminal.press("\u0012x\r");
  await terminal.shows("it is␛[2J read-only");
  terminal.press("\u0004");
  await terminal.shows("Delete Message 1? y/n");
  terminal.press("y");
  await terminal.shows("it is␛[2J read-only");
  terminal.press("\u0003");
  expect(await chosen).toBeUndefined();
});

test("redraws a resized terminal", async () => {
  const { terminal, chosen } = start(async function* () {
    yield info(1);
  });
  await terminal.shows("esc leave");
  expect(terminal.lines).toHaveLength(24);
  Object.assign(terminal.output, { columns: 40, rows: 10 });
  terminal.output.emit("resize");
  await expect.poll(() => terminal.lines.length).toBe(10);
  terminal.press("\u0003");
  expect(await chosen).toBeUndefined();
});

test("searches messages after typing stops, and aborts a search that is not needed anymore", async () => {
  const searches: string[] = [];
  const ended: string[] = [];
  const { terminal, chosen } = start(
    async function* () {
      yield info(1);
      yield info(2);
    },
    {
      search: async function* (query, _scope, signal) {
        searches.push(query);
        try {
          yield { path: "/sessions/2.jsonl", line: { word: "tool", text: `before ${query} after` } };
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        } finally {
          ended.push(query);
        }
      },
    },
  );
  await terminal.shows("Message 1");
  terminal.press("needle\u0006");
  await terminal.shows(/^Contents: needle/);
  await terminal.shows("1/2 …");
  await terminal.shows(/^❯ .*Message 2$/);
  await terminal.shows(/^tool +before needle after$/);
  terminal.press("s");
  await terminal.shows(/^tool +before needles after$/);
  expect([searches, ended]).toEqual([["needle", "needles"], ["needle"]]);
  terminal.press("\r");
  expect((await chosen)?.path).toBe("/sessions/2.jsonl");
});
