import { messageFieldsOf } from "../../core/context/entry-fields.ts";
import { textOf } from "../../core/context/message-parts.ts";
import type { ViewSource } from "../../core/facts/entry-source.ts";
import { excerptOf } from "../../core/facts/excerpt.ts";
import { tellingArgument } from "../../core/facts/key-argument.ts";
import { beginningOf } from "../../core/facts/plain-text.ts";
import { callOf } from "../../core/facts/tool-calls.ts";

/**
 * Returns the line by which an entry is known where its outcome stands beside it: of a result, what was asked for; of a
 * command, the command; else what it says.
 */
export function titleOfEntry(session: Pick<ViewSource, "entryAt" | "tree">, ordinal: number): string {
  const entry = session.entryAt(ordinal);
  const { role, command } = messageFieldsOf(entry);
  const asked =
    role === "bashExecution" ? `$ ${textOf(command)}` : tellingArgument(callOf(session, ordinal)?.input);
  return beginningOf(asked) || excerptOf(entry).text;
}
