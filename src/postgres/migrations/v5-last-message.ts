import type { Migration } from "./migration.ts";
import { addLines } from "./v1-tables.ts";

/** Makes the latest message decide when a session was modified; of stored messages, the times of their entries count. */
export const lastMessage: Migration = {
  version: 5,
  purpose: "the time of the latest message",
  up: (names) => [
    `alter table ${names.sessions} add column last_message_ms bigint`,
    `update ${names.sessions} s set last_message_ms = m.ms, modified_ms = m.ms from (
      select l.session, max(l.time_ms) as ms from ${names.lines} l where l.type = 'message' group by l.session
    ) m where m.session = s.key and m.ms is not null`,
    addLines(
      names,
      "message_ms",
      `last_message_ms = greatest(s.last_message_ms, t.time),
    modified_ms = coalesce(greatest(s.last_message_ms, t.time), s.created_ms)`,
    ),
  ],
  down: (names) => [addLines(names), `alter table ${names.sessions} drop column last_message_ms`],
};
