import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AcpUpdate } from "sessiontree/adapters";
import { z } from "zod";

const require = createRequire(import.meta.url);

function publishedNotification(): z.ZodType {
  const path = require.resolve("@agentclientprotocol/sdk/schema/v1/schema.json");
  const { $defs }: z.core.JSONSchema.JSONSchema = JSON.parse(readFileSync(path, "utf8"));
  return z.fromJSONSchema({ $ref: "#/$defs/SessionNotification", ...($defs && { $defs }) });
}

const notification = publishedNotification();

/** Lists the updates that the protocol's schema rejects after JSON encoding, with its reasons. */
export function invalidUpdates(updates: readonly AcpUpdate[]): string[] {
  return updates.flatMap((update) => {
    const wire = JSON.stringify({ sessionId: "s1", update });
    const { success, error } = notification.safeParse(JSON.parse(wire));
    const isSplit = /\\ud[89a-f]/i.test(wire);
    return success && !isSplit ? [] : [`${wire.slice(0, 200)} ${error?.message ?? "holds half a character"}`];
  });
}
