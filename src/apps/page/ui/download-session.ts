import type { SessionModel } from "../model/session-model.ts";

/** Saves the current file of a session, byte for byte. */
export function downloadSession({ bytes, fileName }: Pick<SessionModel, "bytes" | "fileName">): void {
  const pieces = Array.from(bytes.between(0, bytes.size), (block) => new Uint8Array(block.bytes));
  const address = URL.createObjectURL(new Blob(pieces, { type: "application/jsonl" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName || "session.jsonl";
  link.click();
  // The browser has read the data by the next task.
  setTimeout(() => URL.revokeObjectURL(address));
}
