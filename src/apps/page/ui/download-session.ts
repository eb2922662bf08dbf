import { writeMarkdown } from "../../text/markdown.ts";
import type { SessionModel } from "../model/session-model.ts";

/** Saves the current file of a session, byte for byte. */
export function downloadSession({ bytes, fileName }: Pick<SessionModel, "bytes" | "fileName">): void {
  const pieces = Array.from(bytes.between(0, bytes.size), (block) => new Uint8Array(block.bytes));
  saveFile(fileName || "session.jsonl", new Blob(pieces, { type: "application/jsonl" }));
}

/**
 * Saves a transcript of a branch as Markdown, as `sessiontree export --markdown` does.
 *
 * @param end - Ordinal of the entry at which the branch ends, or NONE.
 */
export function downloadTranscript(session: SessionModel, end: number): void {
  const { fileName, labels } = session;
  const getLabel = (ordinal: number) => labels.get(ordinal);
  const pieces = [...writeMarkdown({ session, leaf: end, getLabel, withImages: false, results: "folded" })];
  const name = `${fileName.replace(/\.jsonl$/, "") || "session"}.md`;
  saveFile(name, new Blob(pieces, { type: "text/markdown" }));
}

function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has read the data by the next task.
  setTimeout(() => URL.revokeObjectURL(address));
}
