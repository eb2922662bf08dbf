import { ENTRY_SAMPLES, HEADER_SAMPLE, MESSAGE_SAMPLES } from "../../core/format/support/samples.ts";

/** Types of entries that a session has after its compaction as well, where they are in the context. */
const LATE: ReadonlySet<string> = new Set(["custom_message", "branch_summary", "context_edit", "usage"]);

/** Id that the samples refer to. */
const SAMPLE_ID = "0a1b2c3d";

/** Returns messages of every role, each with all of its fields, all of them in the context. */
export function makeRichMessages(): object[] {
  return MESSAGE_SAMPLES.map(({ value }) => ({ ...value, excludeFromContext: false }));
}

/** Returns a session with every type of entry and every role of message, each with all of its fields, on one path. */
export function makeRichSession(): object[] {
  const messages = makeRichMessages().map((message) => ({ type: "message", message }));
  const others = ENTRY_SAMPLES.filter(({ name }) => name !== "message");
  const bodies = [
    ...messages,
    ...others.map(({ value }) => value),
    ...messages,
    ...others.filter(({ name }) => LATE.has(name)).map(({ value }) => value),
  ];
  const ids = bodies.map((_, at) => `0a1b2c${String(at).padStart(2, "0")}`);
  const { leafId: _, ...header } = HEADER_SAMPLE.value;
  const entries = bodies.map((body, at) => ({
    ...JSON.parse(JSON.stringify(body).replaceAll(SAMPLE_ID, ids[0] ?? "")),
    id: ids[at],
    parentId: ids[at - 1] ?? null,
    timestamp: new Date(Date.UTC(2026, 1, 3, 22, 0, at)).toISOString(),
  }));
  return [header, ...entries];
}
