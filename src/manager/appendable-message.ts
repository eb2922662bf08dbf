import type { AgentMessage, BranchSummaryMessage, CompactionSummaryMessage } from "../schema/message.ts";

/** A message whose time may be left out. */
type Untimed<Message> = Message extends { timestamp: number }
  ? Omit<Message, "timestamp"> & { timestamp?: number | undefined }
  : Message;

/**
 * A message that can be appended: any role except the two that only contexts have. Without `timestamp`, it gets the time of
 * its entry.
 */
export type AppendableMessage = Untimed<
  Exclude<AgentMessage, BranchSummaryMessage | CompactionSummaryMessage>
>;

/** Returns the message with a time: its own, or else the passed one, in Unix milliseconds. */
export function timed(message: AppendableMessage, timestampMs: number): AgentMessage {
  return hasTime(message) ? message : { ...message, timestamp: timestampMs };
}

function hasTime(message: AppendableMessage): message is AppendableMessage & AgentMessage {
  return message.timestamp !== undefined;
}
