import type * as stable from "@agentclientprotocol/sdk";
import type * as unstable from "@agentclientprotocol/sdk/unstable";
import type {
  AcpForkRequest,
  AcpListRequest,
  AcpReplayOptions,
  AcpSessionPage,
  AcpUpdate,
  fromAcpPrompt,
} from "sessiontree/adapters";
import { expectTypeOf, test } from "vitest";
import type { AcpUpdateLike } from "../../../src/interop/adapters/acp/acp-types.ts";

// Everything here fails in the compiler (`npm run types`), not at run time.
test("outgoing values have the SDK's types, and incoming values may have them", () => {
  expectTypeOf<AcpUpdate>().toExtend<stable.SessionUpdate>();
  expectTypeOf<AcpUpdate>().toExtend<unstable.SessionUpdate>();
  expectTypeOf<AcpSessionPage>().toExtend<stable.ListSessionsResponse>();
  expectTypeOf<stable.ListSessionsRequest>().toExtend<AcpListRequest>();
  expectTypeOf<unstable.ForkSessionRequest>().toExtend<AcpForkRequest>();
  expectTypeOf<stable.SessionUpdate>().toExtend<AcpUpdateLike>();
  expectTypeOf<unstable.SessionUpdate>().toExtend<AcpUpdateLike>();
  expectTypeOf<stable.SessionNotification>().toExtend<AcpUpdateLike>();
  expectTypeOf<stable.ActiveSessionMessage>().toExtend<AcpUpdateLike>();
  expectTypeOf<stable.PromptRequest["prompt"]>().toExtend<Parameters<typeof fromAcpPrompt>[0]>();
  expectTypeOf<stable.ClientCapabilities>().toExtend<NonNullable<AcpReplayOptions["clientCapabilities"]>>();
});
