import type {
  AgentInputItem,
  RunContextAwareSession,
  Session,
  SessionHistoryRewriteAwareSession,
  SessionHistoryTransactionAwareSession,
} from "@openai/agents-core";
import { SessionManager } from "sessiontree";
import { OpenAIAgentsSession } from "sessiontree/adapters";
import { expect, expectTypeOf, test } from "vitest";

type Whole = RunContextAwareSession &
  SessionHistoryRewriteAwareSession &
  SessionHistoryTransactionAwareSession &
  Required<Pick<Session, "replaceHistoryWithCompaction">>;

test("is assignable to the SDK's session with its optional members, and its items are the SDK's", async () => {
  const session: Whole = new OpenAIAgentsSession<AgentInputItem>(SessionManager.inMemory());
  expectTypeOf<OpenAIAgentsSession<AgentInputItem>>().toExtend<Whole>();
  // The target supplies the items' type.
  const inferred: Session = new OpenAIAgentsSession(SessionManager.inMemory());
  expect([await session.getItems(), await inferred.getItems()]).toEqual([[], []]);
});
