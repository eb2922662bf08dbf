import { SessionManager } from "sessiontree";
import { AcpRecorder, toAcpUpdates } from "sessiontree/adapters";
import { toAnthropic } from "sessiontree/convert";
import { expect, test } from "vitest";
import type { AcpUpdateLike } from "../../../src/interop/adapters/acp/acp-types.ts";
import fc from "../../support/fast-check.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { invalidUpdates } from "./support/acp-schema.ts";

const anyOf = <T>(...values: T[]) => fc.constantFrom(...values);

const block = fc.oneof(
  fc.record({ type: anyOf("text"), text: fc.string({ unit: "binary" }) }),
  fc.record({
    type: anyOf("image"),
    data: anyOf("iVBORw0KGgo=", "", "?"),
    mimeType: anyOf("image/png", "x"),
  }),
  fc.record({ type: anyOf("resource_link"), name: fc.string(), uri: fc.string() }),
  fc.record({ type: anyOf("resource", "poem", "audio"), data: fc.json() }),
);
const chunk = fc.record(
  {
    sessionUpdate: anyOf("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"),
    content: block,
    messageId: anyOf("1", "2", ""),
  },
  { requiredKeys: ["sessionUpdate", "content"] },
);
const part = fc.oneof(
  fc.record({ type: anyOf("content"), content: block }),
  fc.record({ type: anyOf("diff", "terminal"), path: fc.string(), newText: fc.string() }),
);
const ofCall = fc.record(
  {
    sessionUpdate: anyOf("tool_call", "tool_call_update"),
    toolCallId: fc.oneof(anyOf("a", "b", "c|d"), fc.string({ unit: "binary" })),
    title: fc.string(),
    name: anyOf("read", "", "__proto__"),
    kind: anyOf("read", "none"),
    status: anyOf("pending", "in_progress", "completed", "failed", "gone"),
    rawInput: fc.oneof(fc.jsonValue(), fc.record({ path: fc.string() })),
    rawOutput: fc.jsonValue(),
    content: fc.oneof(fc.array(part, { maxLength: 2 }), anyOf(null)),
    locations: anyOf([{ path: "/a", line: 3 }], [{ path: 5 }], null),
  },
  { requiredKeys: ["sessionUpdate"] },
);
const other = fc.oneof(
  fc.record({ sessionUpdate: anyOf("plan"), entries: fc.jsonValue() }),
  fc.record({ sessionUpdate: anyOf("usage_update"), used: fc.nat(), cost: fc.jsonValue() }),
  fc.record({ sessionUpdate: anyOf("session_info_update"), title: fc.string({ unit: "binary" }) }),
  fc.record({
    sessionUpdate: anyOf("compaction_update"),
    compactionId: anyOf("k"),
    status: anyOf("completed"),
  }),
  fc.record({ sessionUpdate: anyOf("compaction_summary_chunk"), compactionId: anyOf("k"), content: block }),
  fc.record({ stopReason: anyOf("end_turn", "cancelled", "refusal") }),
  fc.record({ sessionUpdate: fc.string(), more: fc.jsonValue() }),
);

test("records any updates in any order as a readable session with valid updates and valid requests", () => {
  const sessionDir = temporaryFolder();
  const updates = fc.array(fc.oneof(chunk, ofCall, other), { maxLength: 25 });
  fc.assert(
    fc.property(updates, (sent) => {
      const session = SessionManager.create("/projects/shop", { sessionDir, createAtOnce: true });
      const recorder = new AcpRecorder(session, { timestamp: 1 });
      const all: AcpUpdateLike[] = JSON.parse(JSON.stringify(sent));
      for (const update of all) recorder.add(update);
      recorder.end();
      const again = SessionManager.open(session.getSessionFile() ?? "");
      expect(again.issues).toEqual([]);
      expect(again.getEntries()).toEqual(session.getEntries());
      expect(invalidUpdates(toAcpUpdates(again))).toEqual([]);
      expect(toAnthropic(again.buildSessionContext().messages).messages).toBeInstanceOf(Array);
    }),
    { numRuns: 150 },
  );
});
