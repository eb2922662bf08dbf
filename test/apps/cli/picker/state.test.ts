import { describe, expect, test } from "vitest";
import type { PickerKey, PickerRow, PickerScope } from "../../../../src/apps/cli/picker/state.ts";
import {
  findHighlighted,
  findMatches,
  makeEmptyPicker,
  type PickerState,
  type PickerTask,
  takeEvent,
  toPickerKey,
} from "../../../../src/apps/cli/picker/state.ts";
import { getSessionTitle } from "../../../../src/core/facts/session-title.ts";
import fc from "../../../support/fast-check.ts";

const PAGE = 5;

/** A session; a greater number is a later one. */
function session(number: number, facts: Partial<PickerRow> = {}): PickerRow {
  return {
    path: `/sessions/${number}.jsonl`,
    id: `id-${number}`,
    cwd: "/projects/demo",
    title: facts.name ?? facts.firstMessage ?? `Message ${number}`,
    firstMessage: `Message ${number}`,
    created: new Date(number),
    modified: new Date(number),
    messageCount: number,
    kinship: "",
    ...facts,
  };
}

/** A picker with sessions 1 to `number`, all found. */
function filled(number: number): PickerState {
  const sessions = Array.from({ length: number }, (_, i) => session(i + 1));
  const { state } = takeEvent(makeEmptyPicker("project"), { kind: "found", sessions });
  return takeEvent(state, { kind: "complete" }).state;
}

/** Presses keys; returns the state, and the tasks on the way. */
function press(state: PickerState, ...keys: PickerKey[]): { state: PickerState; tasks: PickerTask[] } {
  const tasks: PickerTask[] = [];
  let now = state;
  for (const key of keys) {
    const next = takeEvent(now, { kind: "key", key, page: PAGE });
    now = next.state;
    if (next.task !== undefined) tasks.push(next.task);
  }
  return { state: now, tasks };
}

const titleAfter = (state: PickerState, ...keys: PickerKey[]) =>
  getSessionTitle(findHighlighted(press(state, ...keys).state) ?? {});

describe("moving", () => {
  test("latest first; up and down stop at the ends", () => {
    const state = filled(20);
    expect(titleAfter(state)).toBe("Message 20");
    expect(titleAfter(state, "down", "down")).toBe("Message 18");
    expect(titleAfter(state, "up")).toBe("Message 20");
    expect(titleAfter(state, "end", "down")).toBe("Message 1");
    expect(titleAfter(state, "page-down")).toBe("Message 15");
    expect(titleAfter(state, "end", "page-up", "home")).toBe("Message 20");
  });

  test("sessions found later do not move the cursor's session", () => {
    const moved = press(filled(3), "down").state;
    const { state } = takeEvent(moved, { kind: "found", sessions: [session(9), session(0)] });
    expect(getSessionTitle(findHighlighted(state) ?? {})).toBe("Message 2");
    const untouched = takeEvent(filled(3), { kind: "found", sessions: [session(9)] }).state;
    expect(getSessionTitle(findHighlighted(untouched) ?? {})).toBe("Message 9");
  });
});

describe("contents", () => {
  const opened = press(filled(3), { text: "word" }, "contents");
  const line = { word: "user", text: "a word" };
  const hit = (state: PickerState, query: string, path: string) =>
    takeEvent(state, { kind: "hit", query, path, line }).state;

  test("are searched for the query; matching sessions are shown, the latest first", () => {
    expect(opened.tasks).toEqual([{ kind: "search", query: "word", scope: "project" }]);
    expect(findMatches(opened.state)).toEqual([]);
    const found = hit(hit(opened.state, "word", "/sessions/1.jsonl"), "word", "/sessions/3.jsonl");
    expect(findMatches(found).map(({ path }) => path)).toEqual(["/sessions/3.jsonl", "/sessions/1.jsonl"]);
    expect(hit(found, "word", "/sessions/1.jsonl").contents?.found.get("/sessions/1.jsonl")).toHaveLength(2);
    expect(takeEvent(found, { kind: "searched", query: "word" }).state.contents?.isComplete).toBe(true);
  });

  test("are searched again for each query, and late results of the previous one are dropped", () => {
    const { state, tasks } = press(opened.state, { text: "s" });
    expect(tasks).toEqual([{ kind: "search", query: "words", scope: "project" }]);
    expect(hit(state, "word", "/sessions/1.jsonl")).toBe(state);
    expect(takeEvent(state, { kind: "searched", query: "word" }).state.contents?.isComplete).toBe(false);
    expect(press(state, "rub-out-all").tasks).toEqual([{ kind: "search", query: "", scope: "project" }]);
  });

  test.each(["contents", "back"] as const)("are left by %s, which ends the search", (key) => {
    const { state, tasks } = press(opened.state, key);
    expect(tasks).toEqual([{ kind: "search", query: "", scope: "project" }]);
    expect([state.contents, state.filter]).toEqual([undefined, "word"]);
    expect(press(state, "back").tasks).toEqual([{ kind: "leave" }]);
  });

  test("are left by Tab, which searches for other sessions", () => {
    const { state, tasks } = press(opened.state, "toggle");
    expect([state.contents, tasks]).toEqual([undefined, [{ kind: "find", scope: "all" }]]);
  });
});

describe("the filter", () => {
  test("finds letters in order in names, after those with the words themselves, and never in IDs or folders", () => {
    const sessions = [
      session(1, { name: "Find the bug" }),
      session(2, { firstMessage: "Fix the big unused group" }),
      session(3, { cwd: "/f/t/b", id: "ftb" }),
      session(4, { firstMessage: `Something else. ${"x".repeat(300)} ftbug` }),
    ];
    const { state } = takeEvent(makeEmptyPicker("all"), { kind: "found", sessions });
    const found = (text: string) =>
      findMatches(press(state, { text }).state).map(({ path }) => path.slice(10, 11));
    expect(found("fnd bg")[0]).toBe("1");
    expect(found("fnd bg")).not.toContain("3");
    expect(found("ftbug").slice(0, 2)).toEqual(["4", "1"]);
    expect(found("ftb")).toContain("3");
    expect(found("gub")).toEqual([]);
  });

  test("finds all words anywhere, whatever their case, and deletes whole characters", () => {
    const sessions = [
      session(1, { name: "Parser" }),
      session(2, { cwd: "/projects/parser" }),
      session(3, { firstMessage: "👩‍👩‍👧 family" }),
    ];
    const { state } = takeEvent(makeEmptyPicker("all"), { kind: "found", sessions });
    const titles = (...keys: PickerKey[]) => findMatches(press(state, ...keys).state).map(getSessionTitle);
    expect(titles({ text: "PARSER" })).toEqual(["Parser", "Message 2"]);
    expect(titles({ text: "message" }, { text: " " }, { text: "1 parser" })).toEqual(["Parser"]);
    expect(titles({ text: "fam " }, { text: "👩‍👩‍👧" })).toEqual(["👩‍👩‍👧 family"]);
    expect(press(state, { text: "a👩‍👩‍👧" }, "rub-out").state.filter).toBe("a");
    expect(press(state, { text: "abc" }, "rub-out-all", "rub-out").state.filter).toBe("");
  });

  test("does not match a project's own folder, which all its sessions share", () => {
    const state = filled(3);
    const shown = (scope: PickerScope, text: string) =>
      findMatches(press({ ...state, scope }, { text }).state).length;
    expect([shown("project", "demo"), shown("all", "demo"), shown("folder", "demo")]).toEqual([0, 3, 3]);
    expect(shown("project", "id-2")).toBe(1);
  });

  test("returns the cursor to the first one", () => {
    expect(titleAfter(filled(20), "end", { text: "1" })).toBe("Message 19");
  });
});

describe("choosing and leaving", () => {
  test("Enter chooses the highlighted session, or nothing if nothing matches", () => {
    expect(press(filled(3), "down", "enter").tasks).toEqual([{ kind: "choose", session: session(2) }]);
    expect(press(filled(3), { text: "zzz" }, "enter", "rename", "delete").tasks).toEqual([]);
  });

  test("Escape leaves the list, after closing anything else", () => {
    expect(press(filled(1), "back").tasks).toEqual([{ kind: "leave" }]);
    expect(press(filled(1), "rename", "back").tasks).toEqual([]);
    expect(press(filled(1), "delete", "back").tasks).toEqual([]);
    expect(press(filled(1), "rename", "leave").tasks).toEqual([{ kind: "leave" }]);
  });

  test("Tab switches to the sessions of all projects and back, but not to another folder", () => {
    const { state, tasks } = press(filled(3), { text: "mess" }, "toggle");
    expect(tasks).toEqual([{ kind: "find", scope: "all" }]);
    expect([state.sessions, state.filter, state.isComplete]).toEqual([[], "mess", false]);
    expect(press(state, "toggle").tasks).toEqual([{ kind: "find", scope: "project" }]);
    expect(press(makeEmptyPicker("folder"), "toggle").tasks).toEqual([]);
  });
});

describe("changing sessions", () => {
  test("renaming starts with the current name, and changes the list when it is done", () => {
    const path = "/sessions/2.jsonl";
    const { state, tasks } = press(filled(2), "rename", { text: " New " }, { text: "nam" }, "enter");
    expect(tasks).toEqual([{ kind: "rename", path, name: "New nam" }]);
    const after = takeEvent(state, { kind: "renamed", path, name: "New nam" }).state;
    expect(getSessionTitle(findHighlighted(after) ?? {})).toBe("New nam");
    expect(press(after, "rename", "rub-out").state.mode).toMatchObject({ text: "New na" });
    const cleared = takeEvent(after, { kind: "renamed", path, name: "" }).state;
    expect(getSessionTitle(findHighlighted(cleared) ?? {})).toBe("Message 2");
  });

  test("deleting asks; only y confirms", () => {
    expect(press(filled(3), "down", "delete", { text: "n" }).tasks).toEqual([]);
    expect(press(filled(3), "down", "delete", "enter").tasks).toEqual([]);
    const { state, tasks } = press(filled(3), "down", "delete", { text: "y" });
    const path = "/sessions/2.jsonl";
    expect(tasks).toEqual([{ kind: "delete", path }]);
    const after = takeEvent(state, { kind: "deleted", path }).state;
    expect(findMatches(after).map(getSessionTitle)).toEqual(["Message 3", "Message 1"]);
    expect(getSessionTitle(findHighlighted(after) ?? {})).toBe("Message 1");
  });

  test("sessions found in the meantime do not change the target", () => {
    const asked = press(filled(3), "delete").state;
    const { state } = takeEvent(asked, { kind: "found", sessions: [session(9)] });
    expect(press(state, { text: "y" }).tasks).toEqual([{ kind: "delete", path: "/sessions/3.jsonl" }]);
  });
});

test("whatever is pressed, a match is highlighted, and the list is in order", () => {
  const keys: PickerKey[] = [
    ...(["up", "down", "page-up", "page-down", "home", "end", "enter", "back"] as const),
    ...(["rename", "delete", "toggle", "rub-out", "rub-out-all"] as const),
    ...["1", "2", "y", "m"].map((text) => ({ text })),
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...keys), { maxLength: 40 }), (pressed) => {
      let state = filled(12);
      for (const key of pressed) {
        const next = takeEvent(state, { kind: "key", key, page: PAGE });
        state = next.state;
        if (next.task?.kind === "delete")
          state = takeEvent(state, { kind: "deleted", path: next.task.path }).state;
        if (next.task?.kind === "find")
          state = takeEvent(state, { kind: "found", sessions: [session(1), session(21)] }).state;
        const matches = findMatches(state);
        expect(findHighlighted(state) === undefined).toBe(matches.length === 0);
        const times = state.sessions.map(({ modified }) => modified.getTime());
        expect(times).toEqual([...times].sort((a, b) => b - a));
      }
    }),
  );
});

test.each([
  [undefined, { name: "up" }, "up"],
  ["\u0012", { name: "r", ctrl: true }, "rename"],
  ["r", { name: "r" }, { text: "r" }],
  ["海", { name: undefined }, { text: "海" }],
  [undefined, { name: "delete" }, "delete"],
  ["\u001bx", { name: "x", meta: true }, undefined],
  ["\u009b", { name: undefined }, undefined],
  ["\u0001", { name: "a", ctrl: true }, undefined],
] as const)("the key %j %j requests %j", (text, key, expected) => {
  expect(toPickerKey(text, key)).toEqual(expected);
});
