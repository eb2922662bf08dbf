import { isJsonRecord, type JsonRecord } from "../../schema/json.ts";

/**
 * Renames the message role `hookMessage` to `custom`; returns other records unchanged.
 *
 * @remarks Source: docs/format.md#versions
 */
export function upgradeV2Record(record: JsonRecord): JsonRecord {
  const message = record["message"];
  if (record["type"] !== "message" || !isJsonRecord(message) || message["role"] !== "hookMessage")
    return record;
  return { ...record, message: { ...message, role: "custom" } };
}
