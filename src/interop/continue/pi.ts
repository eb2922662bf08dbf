import { encodeRecord } from "../../core/jsonl/encode.ts";
import type { SessionWriter } from "./session-writer.ts";

/** Writes a session for pi: the branch as it is, in a file of its own. */
export const writePi: SessionWriter = (session, { leafId }) => {
  const records = [session.getHeader(), ...session.getBranch(leafId)];
  const text = records.map((record) => (record === null ? "" : `${encodeRecord(record)}\n`)).join("");
  const file = { path: `${session.getSessionId()}.jsonl`, bytes: new TextEncoder().encode(text) };
  return { files: [file], commands: [["pi", "--session", "{}"]], issues: [] };
};
