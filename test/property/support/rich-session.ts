import { ENTRY_SAMPLES, HEADER_SAMPLE, MESSAGE_SAMPLES } from "../../core/format/support/samples.ts";

/** Session with every type of entry and every role of message, each with all of its fields, on one path. */
export function makeRichSession(): object[] {
  const messages = MESSAGE_SAMPLES.filter(({ name }) => !name.endsWith("Summary"));
  const bodies = [
    ...messages.map(({ value }) => ({ type: "message", message: { ...value, excludeFromContext: false } })),
    ...ENTRY_SAMPLES.filter(({ name }) => name !== "message").map(({ value }) => value),
    // The entries above precede the compaction; these are in the context.
    ...messages.map(({ value }) => ({ type: "message", message: value })),
    ...ENTRY_SAMPLES.filter(({ name }) => LATE.has(name)).map(({ value }) => value),
  ];
  const ids = bodies.map((_, at) => `0a1b2c${String(at).padStart(2, "0")}`);
  // Entries that refer to an entry refer to the first message.
  const { leafId: _, ...header } = HEADER_SAMPLE.value;
  const entries = bodies.map((body, at) => ({
    ...JSON.parse(JSON.stringify(body).replaceAll("0a1b2c3d", ids[0] ?? "")),
    id: ids[at],
    parentId: ids[at - 1] ?? null,
    timestamp: new Date(Date.UTC(2026, 1, 3, 22, 0, at)).toISOString(),
  }));
  return [header, ...entries];
}

const LATE: ReadonlySet<string> = new Set(["custom_message", "branch_summary", "context_edit", "usage"]);
