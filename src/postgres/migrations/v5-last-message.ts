import type { Migration } from "./migration.ts";
import { addLines } from "./v1-tables.ts";

/** Makes the latest message decide when a session was modified; of stored messages, the times of their entries count. */
export const lastMessage: Migration = {
  version: 5,
  purpose: "the time of the latest message",
  up: (names) => [
    `alter table ${names.sessions} add column last_message_ms bigint`,
    `update ${names.sessions} s set last_message_ms = m.ms, modified_ms = coalesce(m.ms, s.created_ms) from (
      select k.key, (select max(l.time_ms) from ${names.lines} l where l.session = k.key and l.type = 'message') as ms
      from ${names.sessions} k
    ) m where m.key = s.key`,
    addLines(
      names,
      "message_ms",
      `last_message_ms = greatest(s.last_message_ms, t.time),
    modified_ms = coalesce(greatest(s.last_message_ms, t.time), s.created_ms)`,
    ),
  ],
  down: (names) => [addLines(names), `alter table ${names.sessions} drop column last_message_ms`],
};
