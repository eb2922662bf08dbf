import pc from "picocolors";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { makePickerLayout, renderPicker } from "../../../../src/apps/cli/picker/render.ts";
import {
  makeEmptyPicker,
  type PickerMode,
  type PickerRow,
  type PickerState,
} from "../../../../src/apps/cli/picker/state.ts";
import { loadWidths } from "../../../../src/apps/cli/text/width.ts";
import { toPlainLine } from "../../../../src/core/facts/plain-text.ts";
import { getSessionTitle } from "../../../../src/core/facts/session-title.ts";
import fc from "../../../support/fast-check.ts";

await loadWidths();

const NOW_MS = Date.parse("2026-02-10T12:00:00.000Z");
const plain = { colors: pc.createColors(false), nowMs: NOW_MS };

function session(number: number, name = "", firstMessage = `Message ${number}`): PickerRow {
  const modified = new Date(NOW_MS - number * 60_000);
  const path = `/sessions/${number}.jsonl`;
  const facts = {
    path,
    id: `${number}`,
    cwd: "/projects/demo",
    created: modified,
    modified,
    messageCount: 7,
    kinship: "",
  };
  return { ...facts, name, firstMessage, title: getSessionTitle({ name, firstMessage }) };
}

function picker(number: number, more: Partial<PickerState> = {}): PickerState {
  const sessions = Array.from({ length: number }, (_, i) => session(i + 1));
  return { ...makeEmptyPicker("project"), sessions, isComplete: true, ...more };
}

test("a fork and the session of a subagent are marked, as in a list", () => {
  const sessions = [
    { ...session(1), kinship: "(fork) " },
    { ...session(2), kinship: "(subagent) " },
  ];
  const lines = renderPicker(picker(0, { sessions }), { columns: 60, rows: 6, ...plain });
  expect(lines.slice(2, 4)).toEqual([
    "❯ 1 min ago       7  (fork) Message 1",
    "  2 min ago       7  (subagent) Message 2",
  ]);
});

test("shows the query, the list, the last messages, and the keys", () => {
  const previews = new Map([
    [
      "/sessions/2.jsonl",
      [
        { word: "user", text: "Why?" },
        { word: "assistant", text: "So." },
      ],
    ],
  ]);
  const state = picker(2, { filter: "mess", cursor: "/sessions/2.jsonl", previews });
  expect(renderPicker(state, { columns: 60, rows: 12, ...plain })).toEqual([
    "Sessions of this project  2",
    "> mess ",
    "  1 min ago       7  Message 1",
    "❯ 2 min ago       7  Message 2",
    "",
    "",
    "",
    "─".repeat(60),
    "user           Why?",
    "assistant      So.",
    "",
    "enter choose  ^R rename  ^D delete  ^F contents",
  ]);
});

test("ten rows of forty columns are enough", () => {
  const lines = renderPicker(picker(2000, { cursor: "/sessions/1000.jsonl" }), {
    columns: 40,
    rows: 10,
    ...plain,
  });
  expect(lines).toHaveLength(10);
  expect(lines.slice(2, 6)).toEqual([
    "  16 h ago    Message 998",
    "  16 h ago    Message 999",
    "❯ 16 h ago    Message 1000",
    "  16 h ago    Message 1001",
  ]);
});

test("explains why nothing is shown", () => {
  const first = (state: PickerState) => renderPicker(state, { columns: 60, rows: 12, ...plain })[2];
  expect(first(makeEmptyPicker("all"))).toContain("Looking for sessions");
  expect(first(picker(0))).toContain("tab shows all projects");
  expect(first(picker(2, { filter: "zzz" }))).toContain("No sessions match");
});

test("asks before a deletion, and shows messages", () => {
  const lines = renderPicker(
    picker(2, { mode: { kind: "delete", path: "/sessions/2.jsonl" }, message: "No." }),
    {
      columns: 60,
      rows: 12,
      ...plain,
    },
  );
  expect(lines[1]).toBe("Delete Message 2? y/n");
  expect(lines.at(-1)).toBe("No.");
});

test("whatever the session and the size of the screen, lines fit and control nothing", () => {
  const nasty = fc
    .array(
      fc.constantFrom(
        "\u001b[2J",
        "\u0007",
        "長",
        "👩‍👩‍👧",
        "e\u0301",
        "\u202e",
        "\n",
        "\t",
        "word ",
        "\u009b1A",
        "\ud800",
      ),
      {
        maxLength: 60,
      },
    )
    .map((parts) => parts.join(""));
  const modes = (text: string): PickerMode[] => [
    { kind: "list" },
    { kind: "rename", path: "/sessions/1.jsonl", text },
    { kind: "delete", path: "/sessions/1.jsonl" },
  ];
  fc.assert(
    fc.property(
      nasty,
      fc.integer({ min: 30, max: 120 }),
      fc.integer({ min: 1, max: 40 }),
      (text, columns, rows) => {
        const one = { ...session(1, text, text), cwd: `/projects/${text}` };
        const previews = new Map([[one.path, [{ word: toPlainLine(text), text: toPlainLine(text) }]]]);
        for (const mode of modes(text)) {
          const state: PickerState = {
            ...picker(3),
            scope: "all",
            sessions: [one, session(2)],
            previews,
            mode,
            filter: mode.kind === "list" ? "" : text,
            message: "",
          };
          const lines = renderPicker(state, { columns, rows, ...plain });
          expect(lines.length).toBeLessThanOrEqual(rows);
          for (const line of lines) {
            expect(stringWidth(line)).toBeLessThanOrEqual(columns);
            expect(line).not.toMatch(/[\p{Cc}\u202e]|\p{Surrogate}/u);
          }
        }
      },
    ),
  );
});

test("divides the lines of any screen completely", () => {
  for (let rows = 4; rows < 100; rows++) {
    const { list, preview } = makePickerLayout(rows);
    expect(list).toBeGreaterThan(0);
    expect(3 + list + (preview > 0 ? preview + 1 : 0)).toBe(rows);
  }
});
