import { expect, test } from "vitest";
import { collectUsage } from "../../../src/catalog/usage/collect-usage.ts";
import { joinLines } from "../import/support/claude-records.ts";
import { answered, asked, chat, QWEN_ID, report } from "../import/support/qwen-records.ts";
import { Places } from "./support/places.ts";

const FOLDER = ".qwen/projects/-code-project/chats";

const CHAT = chat([
  asked("q1", "look"),
  report("p1", "r1", { subagent_name: "Explore", prompt_id: `${QWEN_ID}#explore-1#0` }),
  report("p2", "r2"),
  answered("a1", [{ text: "done" }]),
  report("p3", "r3", { subagent_name: "memory" }),
]);

async function totalOf({ sessions, cacheDir }: Places) {
  return (await collectUsage({ sessionDir: sessions, cacheDir })).total;
}

test("counts calls of the program and its subagents once, also in a copy", async () => {
  const places = new Places();
  const forkedFrom = { sessionId: QWEN_ID };
  const copy = CHAT.map((one) => ({ ...one, sessionId: "copy", forkedFrom }));
  places.put(`${FOLDER}/${QWEN_ID}.jsonl`, joinLines(CHAT));
  places.put(`${FOLDER}/copy.jsonl`, joinLines(copy));
  expect(await places.import()).toMatchObject([
    { sourceId: QWEN_ID, status: "new", issues: [] },
    { sourceId: "copy", status: "new", issues: [] },
  ]);
  expect(await totalOf(places)).toMatchObject({ calls: 3, output: 30 });
  expect(await places.import()).toMatchObject([{ status: "unchanged" }, { status: "unchanged" }]);
});

test("assigns a subagent's transcript in a separate file to its session, with its calls", async () => {
  const places = new Places();
  const lane = { isSidechain: true, agentId: "explore-1" };
  const said = chat([asked("s1", "where?"), answered("s2", [{ text: "there" }])]);
  places.put(`${FOLDER}/agent.jsonl`, joinLines(said.map((one) => ({ ...one, ...lane }))));
  places.put(`${FOLDER}/${QWEN_ID}.jsonl`, joinLines(CHAT));
  expect(await places.import()).toMatchObject([
    { sourceId: QWEN_ID, status: "new", issues: [] },
    { sourceId: `${QWEN_ID}.agent-explore-1`, status: "new", issues: [] },
  ]);
  expect(await totalOf(places)).toMatchObject({ calls: 3, output: 30 });
});
