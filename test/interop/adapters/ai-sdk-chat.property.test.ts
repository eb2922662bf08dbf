import { SessionManager } from "sessiontree";
import { loadChat, saveChat } from "sessiontree/adapters";
import { expect, test } from "vitest";
import type { ThinkingContent } from "../../../src/core/format/content.ts";
import fc from "../../support/fast-check.ts";
import { imageBlock, sayable, words } from "../convert/support/conversations.ts";

const text = fc
  .oneof(words, fc.constantFrom("", " ", "\n\n"))
  .map((said) => ({ type: "text" as const, text: said }));

test("loading and saving a chat changes nothing", async () => {
  const form = {
    identity: { api: "openai-completions", provider: "openrouter", model: "m" },
    thinking: fc.constant<ThinkingContent[]>([]),
    texts: fc.array(text, { maxLength: 3 }),
    callId: fc.oneof(
      fc.nat(9).map((at) => `functions.bash:${at}`),
      fc.nat(9).map((at) => "c".repeat(70) + at),
      fc.nat(9).map((at) => `call_${at}`),
    ),
    user: fc.oneof(words, fc.constantFrom("", " "), fc.array(fc.oneof(text, imageBlock), { maxLength: 3 })),
    result: fc.record({
      content: fc.array(fc.oneof(text, imageBlock), { maxLength: 3 }),
      isError: fc.boolean(),
    }),
    repeatsRoles: true,
  };
  await fc.assert(
    fc.asyncProperty(sayable(form), async (messages) => {
      const session = SessionManager.inMemory();
      for (const message of messages) session.appendMessage(message);
      const saved = await saveChat(session, loadChat(session));
      expect(saved).toMatchObject({ entryIds: [], hasBranched: false });
    }),
    { numRuns: 150 },
  );
});
