import { SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import { readSession } from "../../../src/core/jsonl/read-session.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import {
  assistant,
  entry,
  HEADER_A,
  HEADER_B,
  joinLines,
  set,
  tip,
  user,
} from "../import/support/pi4-records.ts";
import { Places } from "./support/places.ts";

const config = (modelId: string) => ({
  model: { provider: "acme", modelId },
  thinkingLevel: "high",
  activeToolNames: [],
});

const LINES_OF_A = [
  HEADER_A,
  entry(1, "a1", null, user("1"), "main"),
  { kind: "fact", seq: 2, fact: "name", name: "Wall" },
  entry(3, "a2", "a1", assistant("2"), "main"),
  { kind: "lane", seq: 4, lane: "side", leafId: "a1" },
  entry(5, "a3", "a1", user("3"), "side"),
  { kind: "fact", seq: 6, fact: "label", targetId: "a1", label: "here" },
  entry(7, "a4", "a2", user("4"), "main"),
];

const LINES_OF_B = [
  HEADER_B,
  [entry(1, "b1", null, user("1")), tip(2, "main", "b1"), set(3, "pi.lane.config", "main", config("oak"))],
  set(4, "app", "k", 1),
  [entry(5, "b2", "b1", assistant("2")), tip(6, "main", "b2"), set(7, "pi.session.name", "", "Wall")],
  set(8, "pi.lane.config", "main", config("elm")),
  [entry(9, "b3", "b1", user("3")), tip(10, "side", "b3"), set(11, "app", "k", 2)],
  [entry(12, "b4", "b2", user("4")), tip(13, "main", "b4")],
];

const withoutCounts = (text: string) => text.replace(/"counts":\{[^}]*\}/, "");

test.each([
  ["lanes", LINES_OF_A],
  ["branches", LINES_OF_B],
])(
  "imports a file with %s that grows line by line as one import does, and a second import adds nothing",
  async (_, lines) => {
    const atOnce = new Places();
    const path = "old/session.jsonl";
    const whole = atOnce.put(path, joinLines(...lines));
    await atOnce.import({ paths: [whole] });
    const inSteps = new Places();
    for (let end = 2; end <= lines.length; end++) {
      const grown = inSteps.put(path, joinLines(...lines.slice(0, end)));
      const [first] = await inSteps.import({ paths: [grown] });
      expect(first).toMatchObject({ source: "pi-v4", status: end === 2 ? "new" : "grown", issues: [] });
      expect(await inSteps.import({ paths: [grown], again: true })).toMatchObject([{ status: "unchanged" }]);
    }
    const [[, text = ""] = []] = atOnce.files();
    const [[, other = ""] = []] = inSteps.files();
    const inJson = (path: string) => JSON.stringify(path).slice(1, -1);
    const moved = other.replaceAll(inJson(inSteps.root), inJson(atOnce.root));
    expect(withoutCounts(moved)).toBe(withoutCounts(text));
  },
);

test("keeps an entry added here as the leaf, and adds only what is new as another branch", async () => {
  const places = new Places();
  const path = "old/session.jsonl";
  const [one] = await places.import({ paths: [places.put(path, joinLines(...LINES_OF_B.slice(0, 4)))] });
  const session = SessionManager.open(one?.path ?? "");
  const own = session.appendMessage({ role: "user", content: "Here", timestamp: 1 });
  await session.close();
  const file = places.put(path, joinLines(...LINES_OF_B));
  for (const status of ["grown", "unchanged"]) {
    expect(await places.import({ paths: [file], again: true })).toMatchObject([{ status }]);
    const { entries, leafId, issues } = readSession([...places.files().values()].join(""));
    expect(issues).toEqual([]);
    expect(entries.filter(({ type }) => type === "message").map(({ id }) => id)).toEqual([
      "b1",
      "b2",
      own,
      "b3",
      "b4",
    ]);
    expect(entries.find(({ id }) => id === leafId)?.parentId).toBe(own);
    expect(entries.filter(({ type }) => type === "session_info")).toHaveLength(1);
  }
});

test("uses the last entry of a branch's name in a store, where nothing is rewritten", async () => {
  const places = new Places();
  const store = memoryStore();
  const path = "old/session.jsonl";
  for (let end = 2; end <= LINES_OF_B.length; end++) {
    const file = places.put(path, joinLines(...LINES_OF_B.slice(0, end)));
    expect(await places.import({ paths: [file], store, storeName: "m" })).toHaveLength(1);
  }
  const session = await store.open("b-1");
  const tips = new Map<string, string>();
  for (const one of session.getEntries()) {
    if (one.type !== "custom" || one.customType !== "pi-v4.branch") continue;
    const { name, leafId } = Object(one.data);
    tips.set(name, leafId);
  }
  expect(Object.fromEntries(tips)).toEqual({ main: "b4", side: "b3" });
  expect(session.getSessionName()).toBe("Wall");
  const context = session.buildSessionContext();
  expect(context.model).toEqual({ provider: "acme", modelId: "elm" });
  expect(context.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
});

test("imports the larger of two files with one id, and links a fork to its parent", async () => {
  const places = new Places();
  const paths = [
    places.put("one/x.jsonl", joinLines(...LINES_OF_B)),
    places.put("two/x.jsonl", joinLines(...LINES_OF_B.slice(0, 3))),
    places.put(
      "fork.jsonl",
      joinLines({ ...HEADER_B, id: "b-2", parentSessionId: "b-1" }, entry(1, "b1", null, user("1"))),
    ),
  ];
  const found = await places.import({ paths });
  const [parent, fork] = found;
  expect(found.map(({ sourceId, issues }) => [sourceId, issues.map(({ code }) => code)])).toEqual([
    ["b-1", ["SOURCE_LEFT_OUT"]],
    ["b-2", []],
  ]);
  expect(SessionManager.open(fork?.path ?? "", { mode: "read-only" }).getHeader()?.parentSession).toBe(
    parent?.path,
  );
});
