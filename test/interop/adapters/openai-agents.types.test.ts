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

test("is a session of the SDK, with all that it may offer, and its items are the SDK's", async () => {
  const session: Whole = new OpenAIAgentsSession<AgentInputItem>(SessionManager.inMemory());
  expectTypeOf<OpenAIAgentsSession<AgentInputItem>>().toExtend<Whole>();
  // The items' type is known from where the session goes.
  const inferred: Session = new OpenAIAgentsSession(SessionManager.inMemory());
  expect([await session.getItems(), await inferred.getItems()]).toEqual([[], []]);
});
