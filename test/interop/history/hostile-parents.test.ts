import { readdirSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { deleteSession } from "../../../src/catalog/trash/trash.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { joinLines } from "../import/support/claude-records.ts";
import { makeDocument, prompt } from "../import/support/opencode-records.ts";
import { Places } from "./support/places.ts";

beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Sessions of OpenCode and of Kimi Code's agents that started each other, some with ids like paths. */
function circles(): Places {
  const places = new Places();
  const parents = { ses_a: "ses_b", ses_b: "ses_a", "../../up": "..", "..": "../../up" };
  for (const [i, [id, parentID]] of Object.entries(parents).entries()) {
    const document = makeDocument([prompt("msg_1", 1, "hello")], { id, parentID });
    places.put(`.local/share/opencode/storage/session/${i}.json`, JSON.stringify(document));
  }
  const starters = { one: "two", two: "one", "../../out": "main" };
  const spawned = Object.entries(starters).map(([subagentId, parentAgentId]) => {
    const start = { type: "subagent.spawned", agentId: "main", time: 1, subagentId, parentAgentId };
    return { ...start, parentToolCallId: `call ${subagentId}` };
  });
  const message = { role: "user", content: "look", origin: { kind: "user" } };
  for (const agentId of ["main", "one", "two"]) {
    const said = { type: "context.append_message", agentId, time: 2, message };
    const front = { type: "metadata", protocol_version: "1.5", created_at: 1 };
    places.put(
      `.kimi-code/sessions/wd/session_1/agents/${agentId}/wire.jsonl`,
      joinLines([front, ...spawned, said]),
    );
  }
  return places;
}

test("imports sessions that are each other's parents or have ids like paths once, and can delete them", async () => {
  const places = circles();
  const made = await places.import();
  expect(made.map(({ status }) => status)).toEqual(Array(7).fill("new"));
  expect(readdirSync(places.root).sort()).toEqual(["cache", "home", "sessions"]);
  expect(places.files().size).toBe(7);
  for (const status of ["unchanged", "deleted"]) {
    const again = await places.import();
    expect(again.map((one) => one.status)).toEqual(Array(7).fill(status));
    for (const { path } of again) if (path !== null) await deleteSession(path, { permanent: true });
  }
  expect(places.files().size).toBe(0);
});
