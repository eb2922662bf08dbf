/**
 * An extension of an agent that writes its own compactions, which keep decisions verbatim, and stores typed state in the
 * session. The state follows the tree.
 *
 *     npx tsx docs/examples/extension.ts
 */
import {
  convertToLlm,
  defineEntryType,
  isSessionError,
  SessionManager,
  serializeConversation,
} from "sessiontree";
import { SessionController } from "sessiontree/controller";
import { z } from "zod";

/** State: the decisions on the active branch, stored as `custom` entries, which are not sent to a model. */
const decisions = defineEntryType("decisions", z.object({ made: z.array(z.string()) }));

/** Registers the extension's handlers, and returns a function that removes them. */
function keepDecisions(controller: SessionController): () => void {
  const removers = [
    controller.hooks.on("session_before_compact", ({ preparation, reason }) => {
      const { messagesToSummarize, turnPrefixMessages, previousSummary, firstKeptEntryId, tokensBefore } =
        preparation;
      const text = serializeConversation(convertToLlm([...messagesToSummarize, ...turnPrefixMessages]));
      const found = text.match(/^\[User\]: Decision: .*$/gm) ?? [];
      const lines = found.map((line) => line.replace("[User]: Decision: ", "- "));
      if (previousSummary !== undefined) lines.unshift(previousSummary.split("\n\n")[1] ?? "");
      // Without decisions, return undefined, so that the default summary is written.
      if (lines.length === 0) return undefined;
      const summary = `What was decided so far:\n\n${lines.join("\n")}`;
      return { compaction: { summary, firstKeptEntryId, tokensBefore, details: { reason } } };
    }),
    controller.hooks.on("session_compact", ({ fromExtension }) => {
      say(`compacted ${fromExtension ? "by the extension" : "by the library"}`);
    }),
  ];
  return () => {
    for (const remove of removers) remove();
  };
}

/** Appends a user's decision as a message, and the updated list of decisions as state. */
function decide(session: SessionManager, decision: string): string {
  const made = [...(decisions.latest(session)?.made ?? []), decision];
  session.appendMessage({ role: "user", content: `Decision: ${decision}`, timestamp: Date.now() });
  return decisions.append(session, { made });
}

function chat(session: SessionManager): void {
  session.appendMessage({ role: "user", content: "And what about the weather?", timestamp: Date.now() });
  session.appendCustomMessageEntry("weather", "Fair, with a light wind from the west. ".repeat(12), true);
}

function say(text: string): void {
  console.log(`  ${text}`);
}

async function main(): Promise<void> {
  const controller = new SessionController({
    session: SessionManager.inMemory(),
    settings: { enabled: true, reserveTokens: 100, keepRecentTokens: 100 },
  });
  const { session } = controller;
  const remove = keepDecisions(controller);

  console.log("A compaction of its own");
  chat(session);
  decide(session, "we build it of brick");
  chat(session);
  chat(session);
  const { summary } = await controller.compact();
  for (const line of summary.split("\n").filter(Boolean)) say(`| ${line}`);

  console.log("\nState that follows the tree");
  const place = decide(session, "the entrance is in the south");
  decide(session, "the roof is flat");
  say(`here:            ${decisions.latest(session)?.made.join("; ")}`);
  await controller.navigateTree(place);
  say(`one step before: ${decisions.latest(session)?.made.join("; ")}`);
  say(`on all branches: ${decisions.all(session).length} values`);

  console.log("\nState that does not fit its schema");
  try {
    // Outside data is validated before it is stored, …
    decisions.append(session, JSON.parse('{ "made": "everything" }'));
  } catch (error) {
    say(isSessionError(error) ? `refused: ${error.code}` : String(error));
  }
  // … and invalid data that an older version may have stored is reported and skipped.
  session.appendCustomEntry("decisions", ["the form of last year"]);
  say(`still here:      ${decisions.latest(session)?.made.join("; ")}`);
  say(`issues:          ${session.issues.map(({ code }) => code).join(", ")}`);

  console.log("\nWithout the extension");
  remove();
  chat(session);
  chat(session);
  await controller.compact();
  const entry = session.getLeafEntry();
  say(
    `the last compaction is ${entry?.type === "compaction" && entry.fromHook ? "the extension's" : "the library's"}`,
  );
  await controller.close();
}

await main();
