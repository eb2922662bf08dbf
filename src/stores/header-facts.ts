import type { SessionHeader } from "../schema/header.ts";
import { assertValidSessionId } from "../schema/ids.ts";
import { isTime } from "../schema/times.ts";
import { storable } from "./line-facts.ts";
import type { SessionFacts } from "./session-facts.ts";

/**
 * Returns the facts of a session that only has its header.
 *
 * @throws {SessionError} `INVALID_SESSION_ID`
 */
export function factsOfHeader({ id, cwd, parentSession, timestamp }: SessionHeader): SessionFacts {
  assertValidSessionId(id);
  const time = Date.parse(timestamp);
  const createdMs = isTime(time) ? Math.trunc(time) : 0;
  return {
    id,
    cwd: storable(cwd),
    name: null,
    parentSession: parentSession === undefined ? null : storable(parentSession),
    createdMs,
    modifiedMs: createdMs,
    messageCount: 0,
    firstMessage: null,
  };
}
