import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSessionContext, convertToLlm, isSessionError, SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import {
  type ConversationRow,
  getItemParts,
  makeConversationRows,
} from "../../src/apps/page/model/conversation-rows.ts";
import { viewPath } from "../../src/apps/page/model/path-items.ts";
import { exportAtif } from "../../src/interop/atif/export-atif.ts";
import { exportFor } from "../../src/interop/continue/export-for.ts";
import { CONTINUING_AGENTS } from "../../src/interop/continue/exported-session.ts";
import { modelOfText } from "../apps/page/support/session.ts";
import { WRITERS } from "../interop/convert/support/rich-messages.ts";
import { joinLines } from "../interop/import/support/claude-records.ts";
import { replaceEachValue, takeTried } from "../support/hostile-values.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { makeRichSession } from "./support/rich-session.ts";

const EXPORT = { id: "01a201b4-0000-7000-8000-000000000001", now: 0 };

/** Opens a session file; undefined if it has no header, which its error must say. */
function openUnlessHeadless(path: string): SessionManager | undefined {
  try {
    return SessionManager.open(path);
  } catch (error) {
    if (isSessionError(error, "NOT_A_SESSION")) return undefined;
    throw error;
  }
}

/** Reads the content that a row shows. */
function readRow(row: ConversationRow): void {
  if (row.kind === "entry") for (const item of [row.item, ...row.results]) getItemParts(item);
}

/** Reads a session in every way in which its messages are used. */
function readInEveryWay(session: SessionManager): void {
  const { messages } = session.buildSessionContext();
  expect(buildSessionContext(session.getBranch(), session.getLeafId()).messages).toHaveLength(
    messages.length,
  );
  convertToLlm(messages, { repairToolPairs: true });
  session.getTree();
  session.getSessionName();
  for (const write of Object.values(WRITERS)) {
    write(messages);
    write(session, { model: "claude-opus-5-5", provider: "anthropic" });
  }
  exportAtif(session);
  for (const agent of CONTINUING_AGENTS) exportFor(agent, session, EXPORT);
}

test("a session is opened, read, written as requests, and exported, whatever value any field of its entries has", () => {
  const path = join(temporaryFolder(), "session.jsonl");
  for (const { place, document } of takeTried(replaceEachValue(makeRichSession()), 53)) {
    const text = joinLines(Object.values(Object(document)));
    writeFileSync(path, text);
    try {
      const session = openUnlessHeadless(path);
      if (session === undefined) continue;
      const model = modelOfText(text);
      const { items, modelItems, repairs } = viewPath(model, model.leaf);
      for (const some of [items, modelItems]) makeConversationRows(some, () => true).rows.forEach(readRow);
      expect(repairs.length).toBeGreaterThanOrEqual(0);
      if (session.buildSessionContext().messages.some(({ role }) => role === "user")) readInEveryWay(session);
      session.close();
    } catch (error) {
      throw new Error(`fails if ${place}`, { cause: error });
    }
  }
});
