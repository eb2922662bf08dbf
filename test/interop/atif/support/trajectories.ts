import { getTexts } from "../../../../src/core/context/content-text.ts";
import { convertToLlm } from "../../../../src/core/context/convert-to-llm.ts";
import { getSystemTexts } from "../../../../src/core/context/system-message.ts";
import { findUsage } from "../../../../src/core/facts/usage.ts";
import { UsageTally } from "../../../../src/core/facts/usage-tally.ts";
import type { AnySessionEntry } from "../../../../src/core/format/entry.ts";
import { encodeRecord } from "../../../../src/core/jsonl/encode.ts";
import { readSession } from "../../../../src/core/jsonl/read-session.ts";
import type { ExportedTrajectory } from "../../../../src/interop/atif/export-atif.ts";
import type { AtifSource } from "../../../../src/interop/atif/export-options.ts";
import { importAtif } from "../../../../src/interop/import/atif/import-atif.ts";
import type { ImportedSession } from "../../../../src/interop/import/imported-session.ts";

const importedAt = "2027-01-01T00:00:00.000Z";

/** Reads the text of a session file as the source of an export. */
export function readSource(text: string): AtifSource {
  const { header, entries, leafId } = readSession(text);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return {
    getHeader: () => header ?? null,
    getLeafId: () => leafId,
    getEntries: () => entries,
    getBranch: (id = leafId ?? "") => {
      const path: AnySessionEntry[] = [];
      for (let at = byId.get(id); at !== undefined; at = byId.get(at.parentId ?? "")) path.push(at);
      return path.reverse();
    },
  };
}

/** Imports a trajectory after writing and reading it as JSON. */
export function importBack({ trajectory }: Pick<ExportedTrajectory, "trajectory">): ImportedSession[] {
  return importAtif({ document: JSON.parse(JSON.stringify(trajectory)), importedAt });
}

/** Returns an imported session as the text of its file. */
export function writeText({ header, entries }: ImportedSession): string {
  return [header, ...entries].map((record) => `${encodeRecord(record)}\n`).join("");
}

/**
 * Returns what must be equal after a round trip: texts, calls, results, and sums of usage.
 *
 * @param countedFrom - Start of the counted usage: earlier usage was copied from a fork's parent.
 */
export function summarizePath(path: readonly AnySessionEntry[], countedFrom = "") {
  const said: string[] = [];
  const results: string[] = [];
  const tally = new UsageTally();
  for (const entry of path) {
    const used = findUsage(entry);
    if (used !== undefined && entry.timestamp >= countedFrom)
      tally.add(used, { provider: null, model: null });
    const { role, texts, result } = describeEntry(entry);
    if (role !== undefined) said.push(`${role}: ${texts}`);
    if (result !== undefined) results.push(result);
  }
  const { count: _, ...total } = tally.total;
  return { said, results: results.sort(), total };
}

function describeEntry(entry: AnySessionEntry): { role?: string; texts?: string; result?: string } {
  const { type, message, content, summary } = Object(entry);
  if (type === "compaction") return { role: type, texts: String(summary ?? "") };
  if (type === "branch_summary") return { role: type, texts: String(summary ?? "") };
  if (type === "custom_message") return { role: "custom", texts: describeBlocks(content) };
  if (type !== "message" || typeof message?.role !== "string") return {};
  const { role } = message;
  if (role === "system") return { role, texts: getSystemTexts(message).join("\n\n") };
  if (role === "user" || role === "custom") return { role, texts: describeBlocks(message.content) };
  if (role === "bashExecution") {
    const [said] = convertToLlm([{ ...message, excludeFromContext: false }]);
    return { role, texts: describeBlocks(said?.content) };
  }
  if (role === "toolResult")
    return { result: `${message.isError === true} ${describeBlocks(message.content)}` };
  if (role !== "assistant") return {};
  const blocks: unknown[] = Array.isArray(message.content) ? message.content : [];
  const calls = blocks.filter((block) => Object(block).type === "toolCall");
  const told = calls.map((call) => `${Object(call).name} ${JSON.stringify(Object(call).arguments)}`);
  const thinking = blocks.flatMap((block) =>
    Object(block).redacted === true ? [] : (Object(block).thinking ?? []),
  );
  const parts = [getTexts(message.content).join("\n\n"), thinking.filter(Boolean).join("\n\n"), ...told];
  return {
    role: `${role} ${ENDS.has(message.stopReason) ? message.stopReason : ""}`,
    texts: parts.join(" | "),
  };
}

const ENDS: ReadonlySet<unknown> = new Set(["error", "aborted", "length"]);

function describeBlocks(content: unknown): string {
  if (typeof content === "string") return content;
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  const texts = blocks.map((block) => Object(block).text ?? Object(block).data?.replace(/[\s=]+/g, "") ?? "");
  return texts.join("\n");
}
